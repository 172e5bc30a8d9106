'use strict';
// The shared checks of bridge-evals, found through the Python that has it installed.

const { execFileSync } = require('node:child_process');
const path = require('node:path');

const FIND = "import importlib.util as u; print(u.find_spec('bridge_promptfoo').submodule_search_locations[0])";
const python = process.env.PROMPTFOO_PYTHON || 'python3';
const home = execFileSync(python, ['-P', '-X', 'utf8', '-c', FIND], { encoding: 'utf8' }).trim();

module.exports = require(path.join(home, 'checks.cjs'));
