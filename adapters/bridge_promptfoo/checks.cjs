'use strict';
// The shared checks as promptfoo assertions. One Python process carries out all checks of a test:
// the first assertion of a test asks for them, the others wait for the same answer. If the process
// dies or hangs, everyone who waits throws: an assertion that returned would look like a failure.

const { spawn } = require('node:child_process');

const KEY = 'bridge';
const TIMEOUT_MS = Number(process.env.BRIDGE_PROMPTFOO_TIMEOUT_MS || 120000);
const MOST_RESTARTS = 1;

class Scorers {
  constructor() {
    this.asked = new Map(); // test object -> system -> promise of its results
    this.waiting = new Map(); // request id -> {resolve, reject, timer}
    this.child = null;
    this.starts = 0;
    this.requests = 0;
    this.ended = null; // why there is no child any more
  }

  results(output, context) {
    const { provider } = context;
    const system = provider?.system || provider?.label || provider?.id?.() || 'default';
    const bySystem = this.asked.get(context.test) ?? new Map();
    this.asked.set(context.test, bySystem);
    const text = typeof output === 'string' ? output : JSON.stringify(output);
    const known = bySystem.get(system);
    if (known?.text === text) return known.promise;
    const promise = this.ask(request(system, output, context));
    bySystem.set(system, { text, promise });
    return promise;
  }

  ask(body) {
    return new Promise((resolve, reject) => {
      if (!this.start()) {
        reject(new Error(this.ended));
        return;
      }
      const id = ++this.requests;
      const timer = setTimeout(() => this.stop(`a check took longer than ${TIMEOUT_MS} ms`), TIMEOUT_MS);
      this.waiting.set(id, { resolve, reject, timer });
      this.hold(true);
      this.child.stdin.write(JSON.stringify({ id, ...body }) + '\n');
    });
  }

  start() {
    if (this.child) return true;
    if (this.starts > MOST_RESTARTS) return false;
    this.starts += 1;
    const { PROMPTFOO_PYTHON: python = 'python3', BRIDGE_PROMPTFOO_IMPORT_DIR: own } = process.env;
    const child = spawn(python, ['-P', '-X', 'utf8', '-m', 'bridge_promptfoo.child', ...(own ? [own] : [])], {
      stdio: ['pipe', 'pipe', 'inherit'],
      windowsHide: true,
    });
    this.child = child;
    this.tail = [];
    child.on('error', (error) => this.stop(`the scorers could not be started: ${error.message}`, child));
    child.on('close', (code, signal) => this.stop(`the scorer process ended (${signal ?? `exit code ${code}`})`, child));
    child.stdin.on('error', () => {}); // a broken pipe; its exit says more
    child.stdout.on('data', (chunk) => this.read(chunk, child));
    process.once('exit', () => child.kill());
    return true;
  }

  read(chunk, child) {
    if (child !== this.child) return;
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.tail.push(chunk.subarray(start, end));
      this.answer(Buffer.concat(this.tail).toString('utf8'));
      this.tail = [];
      start = end + 1;
    }
    if (start < chunk.length) this.tail.push(chunk.subarray(start));
  }

  answer(line) {
    let reply;
    try {
      reply = JSON.parse(line);
    } catch {
      this.stop('the scorer process wrote something that is no answer');
      return;
    }
    const asked = this.waiting.get(reply.id);
    if (!asked) return;
    this.waiting.delete(reply.id);
    clearTimeout(asked.timer);
    if (reply.error) asked.reject(new Error(reply.error));
    else asked.resolve(reply.results);
    if (this.waiting.size === 0) this.hold(false);
  }

  // Everyone who waits is told; the next test may start another process.
  stop(why, child = this.child) {
    if (child === null || child !== this.child) return;
    this.ended = why;
    this.child = null;
    child.kill('SIGKILL');
    for (const { reject, timer } of this.waiting.values()) {
      clearTimeout(timer);
      reject(new Error(why));
    }
    this.waiting.clear();
  }

  // Node may end while the process is idle, not while an answer is due.
  hold(due) {
    const change = due ? 'ref' : 'unref';
    this.child[change]();
    this.child.stdin[change]?.();
    this.child.stdout[change]?.();
  }
}

function request(system, output, context) {
  const { test, providerResponse: response = {} } = context;
  const sealed = test.metadata?.[KEY];
  return {
    system,
    prompt: sealed ? '' : context.prompt,
    test: sealed
      ? { metadata: { [KEY]: sealed } }
      : { metadata: test.metadata, vars: context.vars, description: test.description },
    response: {
      output,
      cost: response.cost,
      latencyMs: response.latencyMs,
      tokenUsage: response.tokenUsage,
    },
    metrics: ours(test.assert),
  };
}

function ours(assertions) {
  return (assertions ?? []).flatMap((each) =>
    each.type === 'assert-set' ? ours(each.assert) : (each.config?.[KEY] ?? []),
  );
}

const scorers = (globalThis.bridgeScorers ??= new Scorers());

async function check(output, context) {
  const results = await scorers.results(output, context);
  const { pass, score, reason, status, rows } = results[context.config[KEY]];
  return { pass, score, reason, metadata: { [KEY]: rows, status } };
}

// Skipped and unsupported checks are neither passed nor failed, which promptfoo has no word for:
// they leave the components and go into the test's own metadata.
function summary(_, { componentResults, threshold }) {
  const left = [];
  const kept = [];
  for (const each of componentResults) {
    (['skipped', 'unsupported'].includes(each.metadata?.status) ? left : kept).push(each);
  }
  const totals = new Map();
  let score = 0;
  let weights = 0;
  for (const { assertion, score: value } of kept) {
    const weight = assertion?.weight ?? 1;
    score += value * weight;
    weights += weight;
    if (!assertion?.metric) continue;
    const total = totals.get(assertion.metric) ?? [0, 0];
    totals.set(assertion.metric, [total[0] + value * weight, total[1] + weight]);
  }
  score = weights > 0 ? score / weights : 0;
  const failed = kept.find((each) => !each.pass);
  const broken = kept.some((each) => each.metadata?.status === 'error');
  const enough = typeof threshold === 'number' ? score >= threshold && !broken : !failed;
  return {
    pass: kept.length > 0 && enough,
    score,
    reason: why(kept, left, failed),
    componentResults: kept,
    namedScores: Object.fromEntries([...totals].map(([name, [sum, weight]]) => [name, weight > 0 ? sum / weight : 0])),
    namedScoreWeights: Object.fromEntries([...totals].map(([name, [, weight]]) => [name, weight])),
    ...(left.length > 0 && { metadata: { [KEY]: left.map(aside) } }),
  };
}

function aside({ reason, assertion, metadata }) {
  return { metric: assertion?.metric, reason, rows: metadata[KEY], config: assertion?.config };
}

function why(kept, left, failed) {
  if (kept.length === 0) return `nothing was scored: ${left.map((each) => each.reason).join('; ')}`;
  return failed ? failed.reason : 'All checks passed';
}

module.exports = check;
module.exports.summary = summary;
