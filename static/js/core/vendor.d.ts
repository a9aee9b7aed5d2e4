// What pages find by their import maps; types of these are not looked at.
declare module "socket.io-client";
