'use strict';
// Unpack what @sparticuz/chromium ships: the browser, and the libraries that a bare machine lacks.

const { execFileSync } = require('node:child_process');
const { createReadStream, createWriteStream, chmodSync } = require('node:fs');
const { join } = require('node:path');
const { pipeline } = require('node:stream/promises');
const { createBrotliDecompress } = require('node:zlib');

const [packed, target] = process.argv.slice(2);
const unpack = (name, file) =>
  pipeline(createReadStream(join(packed, name)), createBrotliDecompress(), createWriteStream(join(target, file)));

async function main() {
  await Promise.all([unpack('chromium.br', 'chromium'), unpack('al2023.tar.br', 'libraries.tar')]);
  execFileSync('tar', ['xf', 'libraries.tar'], { cwd: target });
  chmodSync(join(target, 'chromium'), 0o755);
}

main();
