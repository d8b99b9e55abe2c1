// Stands in for Ollama (`serve`, `list`) and for a speech server (`speech`): answers that have the right form, of no model.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const [command = 'serve'] = process.argv.slice(2);
const [host, port] = command === 'speech' ? ['0.0.0.0', 8000] : (process.env.OLLAMA_HOST ?? '0.0.0.0:11434').split(':');
if (command === 'list') {
  const { ok } = await fetch(`http://127.0.0.1:${port}/api/version`);
  process.exit(ok ? 0 : 1);
}

const pulled = new Set();

const answers = {
  '/health': () => ({ message: 'OK' }),
  '/api/version': () => ({ version: '0.0.0' }),
  '/api/show': ({ model }) => (pulled.has(model) ? {} : null),
  '/api/pull': ({ model }) => {
    pulled.add(model);
    return [{ status: 'pulling a', digest: 'a', total: 2e9, completed: 1e9 }, { status: 'success' }];
  },
  '/v1/chat/completions': ({ model, messages, response_format: format }) => {
    if (!pulled.has(model)) return null;
    const schema = format?.json_schema?.schema ?? format?.schema ?? {};
    const reply = { ...instanceOf(schema, schema.$defs), answers: answersTo(messages[0].content, schema) };
    const message = { role: 'assistant', content: JSON.stringify(reply) };
    return {
      id: 'answer',
      object: 'chat.completion',
      created: 0,
      model,
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
  },
  '/v1/audio/transcriptions': ({ form }) => {
    if (!form.includes(JSON.parse(process.env.PRELOAD_MODELS ?? '[]')[0])) return null;
    const segment = {
      id: 0,
      start: 0,
      end: 1,
      text: 'Hello.',
      avg_logprob: -0.1,
      no_speech_prob: 0,
      compression_ratio: 1,
    };
    return { task: 'transcribe', language: 'english', duration: 1, text: segment.text, segments: [segment] };
  },
};

/** No answer to each question: the instructions have one in a line, as JSON that begins with its id. */
function answersTo(instructions, { properties = {}, $defs }) {
  const questions = instructions.split('\n').flatMap((line) => (line.startsWith('{"') ? [JSON.parse(line)] : []));
  return questions.map((question) => {
    const [[name, id]] = Object.entries(question);
    return { ...instanceOf(properties.answers?.items ?? {}, $defs), [name]: id, answer: null };
  });
}

/** A value of a JSON schema. */
function instanceOf(schema, definitions) {
  if (schema.$ref !== undefined) return instanceOf(definitions[schema.$ref.split('/').at(-1)], definitions);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return instanceOf(choices[0], definitions);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, each]) => [name, instanceOf(each, definitions)]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => instanceOf(schema.items ?? {}, definitions));
    case 'number':
    case 'integer':
      return schema.minimum ?? 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return 'Hello';
  }
}

createServer(async (request, response) => {
  const sent = await text(request);
  const isForm = request.headers['content-type']?.startsWith('multipart/') === true;
  const body = isForm ? { form: sent } : sent === '' ? {} : JSON.parse(sent);
  const answer = answers[request.url]?.(body) ?? null;
  console.log(`${request.url} ${body.model ?? ''} ${answer === null ? 404 : 200}`);
  response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' });
  response.end((Array.isArray(answer) ? answer : [answer]).map((each) => `${JSON.stringify(each)}\n`).join(''));
}).listen(Number(port), host);
process.once('SIGTERM', () => process.exit(0));
