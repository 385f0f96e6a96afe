//! Clusters within zones. A flat cluster is a star, with a router in the centre that connects it to other zones; the
//! others are topologies whose hosts are the points of a zone.

use rustc_hash::FxHashMap;
use titr_common::units::Seconds;
use titr_document::{Checked, Located};
use titr_network::topology::{Attachment, Link, PointId, Sharing, ZoneId, ZoneRouting};

use super::super::cluster::{self, ClusterTopology};
use super::super::element::Element;
use super::super::units::{BANDWIDTH, SPEED, TIME};
use super::{MAX_HOSTS, Name, Reader, RoutingKind, ZoneDraft, affix_of, numbered_hosts};

impl<'a> Reader<'a, '_, '_> {
    pub(super) fn read_cluster(&mut self, cluster: &Element<'a>, id: ZoneId) -> Checked<()> {
        let topology = cluster::topology(cluster)?;
        let named = numbered_hosts(cluster, "a platform of zones", MAX_HOSTS as u64)?;
        let speed = cluster.required("speed")?;
        let speed = speed.split(',').next().unwrap_or(speed).located(&SPEED)?;
        let cores = cluster.attribute("core").map_or(Ok(1), |cores| cores.count())?;
        let mut zone = ZoneDraft::new(cluster, id, RoutingKind::Star);
        let mut hosts = Vec::new();
        for (number, name) in named {
            hosts.push((number, self.add_host(&mut zone, &name, cluster, speed.clone(), cores)?));
        }
        if topology != ClusterTopology::Flat {
            return self.read_regular(cluster, id);
        }
        let star = self.star(cluster, &hosts)?;
        let name = cluster.required("id")?;
        let router = match cluster.attribute("router_id") {
            Some(written) => Name { text: written.value.to_owned(), place: written.place },
            None => {
                let [prefix, suffix] = ["prefix", "suffix"].map(|affix| affix_of(cluster, affix));
                Name { text: format!("{prefix}{}_router{suffix}", name.value), place: name.place }
            }
        };
        self.add_router(&mut zone, &router, cluster)?;
        self.network.set_routing(id, ZoneRouting::Star(star));
        Ok(())
    }

    /// The links of a flat cluster, under the names that SimGrid gives them.
    fn star(&mut self, cluster: &Element, hosts: &[(u32, PointId)]) -> Checked<FxHashMap<PointId, Attachment>> {
        let id = cluster.required("id")?;
        let name = |text: String| Name { text, place: id.place.clone() };
        let link = |bandwidth: &str, latency: &str, sharing| -> Checked<Option<Link>> {
            let (bandwidth, latency) = (cluster.attribute(bandwidth), cluster.attribute(latency));
            if !cluster::is_given(&bandwidth, &latency)? {
                return Ok(None);
            }
            let Some(bandwidth) = bandwidth else {
                return Err(cluster.wrong("a link with a latency needs a bandwidth too"));
            };
            let latency = latency.map_or(Ok(0.0), |latency| latency.quantity(&TIME))?;
            Ok(Some(Link { bandwidth: bandwidth.positive(&BANDWIDTH)?, latency: Seconds(latency), sharing }))
        };
        let backbone_sharing = match cluster.attribute("bb_sharing_policy") {
            Some(sharing) => sharing.one_of(&[("SHARED", Sharing::Shared), ("FATPIPE", Sharing::FatPipe)])?,
            None => Sharing::Shared,
        };
        let backbone = link("bb_bw", "bb_lat", backbone_sharing)?;
        let loopback = link("loopback_bw", "loopback_lat", Sharing::FatPipe)?;
        let (bandwidth, latency) = (cluster.required("bw")?, cluster.required("lat")?);
        let cable = Link {
            bandwidth: bandwidth.positive(&BANDWIDTH)?,
            latency: Seconds(latency.quantity(&TIME)?),
            sharing: Sharing::Shared,
        };
        let is_split =
            cluster.attribute("sharing_policy").map_or(Ok("full"), |policy| cluster::duplex(&policy))? == "full";
        let limiter = match cluster.attribute("limiter_link") {
            Some(limiter) => Some(limiter.quantity(&BANDWIDTH)?).filter(|&bandwidth| bandwidth > 0.0),
            None => None,
        };
        let mut add = |text: String, link: Link, is_split: bool| {
            self.add_link(&name(text), cluster, link, is_split).map(super::NamedLink::both_ways)
        };
        let backbone = match backbone {
            Some(link) => Some(add(format!("{}_backbone", id.value), link, false)?[0]),
            None => None,
        };
        let mut star = FxHashMap::default();
        for &(number, host) in hosts {
            let base = format!("{}_link_{number}", id.value);
            let loopback = match loopback {
                Some(link) => Some(vec![add(format!("{base}_loopback"), link, false)?[0]]),
                None => None,
            };
            let limiter = match limiter {
                Some(bandwidth) => {
                    let link = Link { bandwidth, latency: Seconds(0.0), sharing: Sharing::Shared };
                    Some(add(format!("{base}_limiter"), link, false)?[0])
                }
                None => None,
            };
            let [up, down] = add(base, cable, is_split)?;
            let up = limiter.into_iter().chain([up]).chain(backbone).collect();
            let down = backbone.into_iter().chain([down]).chain(limiter).collect();
            star.insert(host, Attachment { up, down, loopback });
        }
        Ok(star)
    }

    /// Reads a torus, a fat-tree or a dragonfly as a separate platform.
    fn read_regular(&mut self, cluster: &Element<'a>, id: ZoneId) -> Checked<()> {
        let tables = self.reading.apart(cluster, |reading| cluster::read(cluster, reading))?;
        let topology = (self.build)(Located::new(tables, cluster.place()))?;
        let name = cluster.required("id")?;
        let first = self.network.add_links_of(name.value, topology.as_ref());
        self.network.set_routing(id, ZoneRouting::Regular { topology, first });
        Ok(())
    }
}
