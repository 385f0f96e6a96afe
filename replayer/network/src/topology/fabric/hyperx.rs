//! HyperX: routers in a grid, every two of which are joined if they differ in one coordinate only (J. H. Ahn, N. Binkert,
//! A. Davis, M. McLaren, R. S. Schreiber, "HyperX: Topology, Routing, and Packaging of Efficient Large-Scale Networks",
//! SC 2009). With two dimensions or more it is also called a Hamming graph or a generalised hypercube.
//!
//! Router x₀ + S₀·(x₁ + S₁·(x₂ + …)) has the coordinates x.

use super::Wiring;

/// The sizes of a HyperX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperX {
    /// Routers along each dimension.
    pub sizes: Vec<u32>,
    /// Cables side by side between two routers, for each dimension (trunking).
    pub cables: Vec<u32>,
    /// Hosts of each router.
    pub hosts: u32,
}

impl HyperX {
    /// The number of cables, `u64::MAX` if that many or more.
    #[must_use]
    pub fn cables(&self) -> u64 {
        let routers = self.sizes.iter().fold(1_u64, |all, &size| all.saturating_mul(size.into()));
        let of_router = |(&size, &cables): (&u32, &u32)| u64::from(size.saturating_sub(1)) * u64::from(cables);
        let ports = self.sizes.iter().zip(&self.cables).map(of_router).fold(0, u64::saturating_add);
        (routers.saturating_mul(ports) / 2).saturating_add(routers.saturating_mul(self.hosts.into()))
    }

    /// Its routers, cables and hosts. There are as many `cables` as `sizes`, and no number is 0.
    #[must_use]
    pub fn wiring(&self) -> Wiring {
        let sizes: Vec<String> = self.sizes.iter().map(ToString::to_string).collect();
        let mut wiring = Wiring {
            name: format!("HyperX {} with {} hosts a router", sizes.join("×"), self.hosts),
            classes: (0..self.sizes.len()).map(|dimension| format!("dimension {dimension}")).collect(),
            ..Wiring::default()
        };
        let routers: u32 = self.sizes.iter().product();
        wiring.routers = (0..routers).map(|router| self.router_name(router)).collect();
        let mut stride = 1;
        for (class, (&size, &cables)) in (0..).zip(self.sizes.iter().zip(&self.cables)) {
            for router in 0..routers {
                let further = size - 1 - router / stride % size;
                for steps in 1..=further {
                    (0..cables).for_each(|_| wiring.join(router, router + steps * stride, class));
                }
            }
            stride *= size;
        }
        wiring.attach(self.hosts);
        wiring
    }

    fn router_name(&self, router: u32) -> String {
        let mut rest = router;
        let coordinate = |&size: &u32| {
            let coordinate = rest % size;
            rest /= size;
            coordinate.to_string()
        };
        let coordinates: Vec<String> = self.sizes.iter().map(coordinate).collect();
        format!("router-{}", coordinates.join("."))
    }
}
