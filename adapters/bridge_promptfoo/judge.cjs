'use strict';
// The judge as a promptfoo provider, of texts and of embeddings. promptfoo parses free text, and
// passes much that says nothing; so each kind of question goes to the judge with a schema, and its
// reply is spelled as promptfoo's parser reads it. A failure of the judge is an error that says its
// kind: the reader of the results makes an error row of it, never a failed one.

const http = require('node:http');

const TEXT = { type: 'string', minLength: 1 };

function object(properties) {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

function list(items, bounds = { minItems: 1 }) {
  return { type: 'array', items, ...bounds };
}

// what stands in a line or between marks must not look like one
function line(text) {
  return text.replace(/[\r\n]+/g, ' ').replace(/[[\]]/g, ' ').trim();
}

const FORMS = {
  'context-faithfulness-longform': {
    schema: () => object({ statements: list(TEXT) }),
    spell: ({ statements }) => statements.map((each) => each.replace(/\s*[\r\n]+\s*/g, ' ')).join('\n'),
  },
  'context-faithfulness-nli': {
    schema: ({ statements }) => {
      const each = object({ explanation: { type: 'string' }, verdict: { enum: ['Yes', 'No'] } });
      return object({ verdicts: list(each, { minItems: statements.length, maxItems: statements.length }) });
    },
    spell: ({ verdicts }) =>
      `Final verdict for each statement in order: ${verdicts.map(({ verdict }) => `${verdict}.`).join(' ')}`,
  },
  'context-recall': {
    schema: () =>
      object({
        classifications: list(object({ sentence: TEXT, reason: { type: 'string' }, attributed: { type: 'boolean' } })),
      }),
    spell: ({ classifications }) =>
      classifications
        .map(({ sentence, attributed }, at) => `${at + 1}. ${line(sentence)} ${attributed ? '[Attributed]' : '[Not Attributed]'}`)
        .join('\n'),
  },
  'context-relevance': {
    schema: () => object({ sentences: list(TEXT, {}) }),
    // they are looked for in the context as it is written
    spell: ({ sentences }, { context }) =>
      sentences.map((each) => (plain(context) === context ? each : written(each))).join('\n') || 'Insufficient Information',
  },
  'answer-relevance': {
    schema: () => object({ question: TEXT }),
    spell: ({ question }) => question,
  },
  'g-eval-steps': {
    schema: () => object({ steps: list(TEXT) }),
    spell: ({ steps }) => JSON.stringify({ steps }),
  },
  'g-eval': {
    schema: () => object({ reason: TEXT, score: { type: 'integer', minimum: 0, maximum: 10 } }),
    spell: ({ reason, score }) => JSON.stringify({ score, reason }),
  },
  factuality: {
    schema: () => object({ reason: TEXT, category: { enum: ['A', 'B', 'C', 'D', 'E'] } }),
    spell: ({ reason, category }) => JSON.stringify({ category, reason }),
  },
  'conversation-relevance': {
    schema: () => object({ reason: TEXT, verdict: { enum: ['yes', 'no'] } }),
    spell: (data) => JSON.stringify(data),
  },
  'conversation-relevance-reason': {
    schema: () => object({ reason: TEXT }),
    spell: (data) => JSON.stringify(data),
  },
};

class Judge {
  constructor({ config }) {
    this.config = config;
    this.asked = new Map(); // how often each question was put
  }

  id() {
    return `bridge:judge:${this.config.judge}`;
  }

  async callApi(prompt, { prompt: { label }, vars }) {
    const form = FORMS[label];
    if (!form) return failure('request', `promptfoo asks for ${label}, which the judge does not know`);
    const reply = await this.ask({ messages: messages(plain(prompt)), schema: form.schema(vars), embeds: [] });
    return reply.error ? failure(reply.error.kind, reply.error.text) : { output: form.spell(reply.data, vars), ...took(reply) };
  }

  async callEmbeddingApi(text) {
    const reply = await this.ask({ messages: [], schema: null, embeds: [plain(text)] });
    return reply.error ? failure(reply.error.kind, reply.error.text) : { embedding: reply.vectors[0], ...took(reply) };
  }

  async ask(question) {
    const { judge, tag, vary } = this.config;
    const key = JSON.stringify(question);
    const before = this.asked.get(key) ?? 0;
    this.asked.set(key, before + 1);
    const body = { judge, tag, sample: vary ? before : 0, ...question };
    try {
      return await post(JSON.stringify(body));
    } catch (error) {
      return { error: { kind: 'connect', text: `the run's judge gateway does not answer (${error.message})` } };
    }
  }
}

// variables are written so that a template renders them as they are; graders see some unrendered
function plain(text) {
  return text.replace(/\{\{ "(\{|#|f|p|\\n)" \}\}/g, (_, held) => (held === '\\n' ? '\n' : held));
}

function written(text) {
  return text.replace(/\{(?=[{%#]|\n?$)|(?<=\{)\{|#(?=\})/g, '{{ "$&" }}');
}

function messages(prompt) {
  try {
    const parsed = JSON.parse(prompt);
    const chat = Array.isArray(parsed) && parsed.every((each) => each && typeof each.role === 'string' && typeof each.content === 'string');
    if (chat && parsed.length) return parsed.map(({ role, content }) => ({ role, content }));
  } catch {
    // a plain prompt
  }
  return [{ role: 'user', content: prompt }];
}

// node:http has no deadline of its own: how long the judge may take is the suite's to say
function post(body) {
  const { BRIDGE_JUDGE_URL: url, BRIDGE_JUDGE_TOKEN: token } = process.env;
  if (!url || !token) return Promise.resolve({ error: { kind: 'request', text: 'the judge is not in force; score by bridge run' } });
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = http.request(new URL('/ask', url), { method: 'POST', headers, agent: false }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode !== 200) return reject(new Error(`status ${response.statusCode}`));
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
        } catch (error) {
          reject(error);
        }
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

// the kind of limit keeps promptfoo from waiting and asking again by itself
function failure(kind, text) {
  return { error: `judge_error[${kind}]: ${text}`, metadata: { rateLimitKind: 'quota' } };
}

function took({ input_tokens: prompt, output_tokens: completion }) {
  const [read, written] = [prompt ?? 0, completion ?? 0];
  return { tokenUsage: { prompt: read, completion: written, total: read + written, numRequests: 1 } };
}

module.exports = Judge;
