// Vendored without its types: what is taken from it goes unchecked.
declare module "@observablehq/plot";
