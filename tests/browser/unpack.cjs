'use strict';
// Unpack what @sparticuz/chromium ships: the browser, and the libraries and fonts that a bare machine lacks.

const { execFileSync } = require('node:child_process');
const { createReadStream, createWriteStream, chmodSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { pipeline } = require('node:stream/promises');
const { createBrotliDecompress } = require('node:zlib');

const FONTS = '<?xml version="1.0"?><fontconfig><dir prefix="relative">fonts</dir></fontconfig>\n';
const [packed, target] = process.argv.slice(2);
const unpack = (name, file) =>
  pipeline(createReadStream(join(packed, name)), createBrotliDecompress(), createWriteStream(join(target, file)));

async function main() {
  await Promise.all([
    unpack('chromium.br', 'chromium'),
    unpack('al2023.tar.br', 'libraries.tar'),
    unpack('fonts.tar.br', 'fonts.tar'),
  ]);
  for (const archive of ['libraries.tar', 'fonts.tar']) execFileSync('tar', ['xf', archive], { cwd: target });
  writeFileSync(join(target, 'fonts.conf'), FONTS); // theirs names folders of another machine
  chmodSync(join(target, 'chromium'), 0o755);
}

main();
