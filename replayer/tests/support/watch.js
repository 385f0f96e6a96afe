// Runs before the script of a page, and notes each property that the script reads and the page's schema does not have.
(() => {
  const page = SCHEMA;
  const unknown = new Set();
  const known = new Set();
  window.reads = () => ({ unknown: [...unknown], known: [...known] });

  // The schema that a node refers to; of a choice between a schema and null, the schema.
  const resolved = (node) => {
    if (node.$ref) return resolved(page.$defs[node.$ref.split("/").pop()]);
    if (node.anyOf) return resolved(node.anyOf.find((choice) => choice.type !== "null"));
    return node;
  };

  const watched = (value, schema, path) => {
    if (value === null || typeof value !== "object") return value;
    const node = resolved(schema);
    const read = (key) => {
      const found = value[key];
      if (Array.isArray(value)) {
        // A method, or the length.
        if (!/^\d+$/.test(key)) return found;
        const inner = node.prefixItems ? node.prefixItems[key] : node.items;
        const place = `${path}[${node.prefixItems ? key : ""}]`;
        if (!inner) unknown.add(place);
        return inner ? watched(found, inner, place) : found;
      }
      // Whoever awaits an object asks for this.
      if (key === "then") return found;
      const inner = (node.properties || {})[key] || node.additionalProperties;
      const place = `${path}.${node.properties ? key : "*"}`;
      (inner ? known : unknown).add(place);
      return inner ? watched(found, inner, place) : found;
    };
    const done = new Map();
    return new Proxy(value, {
      get: (_, key) => {
        if (typeof key === "symbol") return value[key];
        if (!done.has(key)) done.set(key, read(key));
        return done.get(key);
      },
    });
  };

  const parse = JSON.parse;
  JSON.parse = (text) => watched(parse(text), page, "data");
})();
