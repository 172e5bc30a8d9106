'use strict';
// Before everything in a Node process under test: notes every address that it looks up or connects
// to, and refuses all but this machine.

const dns = require('node:dns');
const fs = require('node:fs');
const net = require('node:net');

const LOCAL = new Set([undefined, 'localhost', '127.0.0.1', '::1']);

function note(event, host) {
  const log = process.env.NETWORK_GUARD_LOG;
  if (log) fs.appendFileSync(log, `${process.pid} node.${event} '${host}'\n`);
  if (!LOCAL.has(host)) throw new Error(`network guard: ${host}`);
}

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...given) {
  const [first, second] = Array.isArray(given[0]) ? given[0] : given;
  const host = typeof first === 'object' ? first.host : typeof second === 'string' ? second : undefined;
  if (host !== undefined) note('connect', host);
  return connect.apply(this, given);
};

for (const owner of [dns, dns.promises]) {
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
    const original = owner[name];
    owner[name] = (host, ...rest) => {
      note(name, host);
      return original(host, ...rest);
    };
  }
}
