'use strict';
// Loaded before promptfoo: it reports that telemetry is off to its own host, on every run. Nothing
// is looked up and nothing is connected to but this machine, where a judge's gateway may listen.

const dns = require('node:dns');
const net = require('node:net');

function isHere(host) {
  return host === undefined || host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host);
}

function refusal(host) {
  return Object.assign(new Error(`bridge: ${host} is off this machine`), { code: 'ECONNREFUSED' });
}

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...given) {
  // (options), (port, host) and (path), or what node:net has already sorted out as one array
  const [first, second] = Array.isArray(given[0]) ? given[0] : given;
  const host = typeof first === 'object' ? first.host : typeof second === 'string' ? second : undefined;
  if (isHere(host)) return connect.apply(this, given);
  process.nextTick(() => this.destroy(refusal(host)));
  return this;
};

const { lookup } = dns;
dns.lookup = (host, options, done = options) =>
  isHere(host) ? lookup(host, options, done) : process.nextTick(done, refusal(host));
const promised = dns.promises.lookup;
dns.promises.lookup = async (host, options) => {
  if (!isHere(host)) throw refusal(host);
  return promised(host, options);
};
