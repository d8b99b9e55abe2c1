const MOST_TOKENS = 1_000_000_000;
/** The status of an error that comes without one. */
const UNKNOWN_ERROR = 503;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reduces the body of an answer to what this service reads of it, in the one shape that the library knows: servers differ in
 * where they put the text, in the blocks around it, and in what they count. An error that comes with the status 200 gets its
 * own status, and so does what is no answer at all, such as the page of a proxy.
 */
export function readAnswer(provider: 'openai' | 'anthropic', text: string): { status: number; body: string } {
  const answer = fieldsOf(parse(text));
  const read = provider === 'anthropic' ? readMessage(answer) : readCompletion(answer);
  return typeof read === 'number'
    ? { status: read, body: text }
    : { status: 200, body: JSON.stringify({ ...read, ...usageOf(answer['usage']) }) };
}

function readCompletion(answer: Fields): Fields | number {
  const choice = fieldsOf(listOf(answer['choices'])[0]);
  const { message, text } = choice;
  const finish = choice['finish_reason'];
  const isWhole = finish !== 'error' && (isGiven(message) || typeof text === 'string');
  if (!isWhole) return errorIn(choice['error'] ?? answer['error']);
  const given = fieldsOf(message);
  const content = contentOf(given['content']) || (typeof text === 'string' ? text : '');
  return {
    choices: [
      {
        message: {
          role: 'assistant',
          // What was thought is no answer when the tokens ran out before one was begun.
          content: content === '' && finish !== 'length' ? elsewhere(given) : content,
          ...(typeof given['refusal'] === 'string' && { refusal: given['refusal'] }),
        },
        finish_reason: typeof finish === 'string' ? finish : null,
      },
    ],
  };
}

function readMessage(answer: Fields): Fields | number {
  const { content, stop_reason: stop } = answer;
  if (typeof content !== 'string' && !Array.isArray(content)) return errorIn(answer['error']);
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(fieldsOf);
  return {
    type: 'message',
    content: blocks.flatMap(({ type, text, id, name, input }): object[] => {
      if (type === 'text' && typeof text === 'string') return [{ type, text }];
      if (type !== 'tool_use') return [];
      return [{ type, id: String(id), name: String(name), input: typeof input === 'string' ? parse(input) : input }];
    }),
    stop_reason: typeof stop === 'string' ? stop : null,
  };
}

/** The text of a message: itself, its parts but those that are thinking, or an object that it is already. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return isGiven(content) ? JSON.stringify(content) : '';
  return content
    .map((part) => {
      if (typeof part === 'string') return part;
      const { type = 'text', text } = fieldsOf(part);
      return typeof text === 'string' && (type === 'text' || type === 'output_text') ? text : '';
    })
    .join('');
}

/** Some servers leave `content` empty and put the answer into another field. */
function elsewhere({ parsed, tool_calls: calls, reasoning_content, reasoning, thinking }: Fields): string {
  const { arguments: given } = fieldsOf(fieldsOf(listOf(calls)[0])['function']);
  return (
    [parsed, given, reasoning_content, reasoning, thinking].map(contentOf).find((text) => text.trim() !== '') ?? ''
  );
}

function errorIn(error: unknown): number {
  const { code, status, type } = fieldsOf(error);
  const named = [status, code].map(Number).find((number) => Number.isInteger(number) && number >= 400 && number < 600);
  if (named !== undefined) return named;
  const words = [type, code, status].filter((each) => typeof each === 'string').join(' ');
  return /rate.?limit|too.?many|overloaded|exhausted/i.test(words) ? 429 : UNKNOWN_ERROR;
}

/** Counts of any type, of which only those that may be true are used. A wrong count is no reason to lose an answer. */
function usageOf(usage: unknown): Fields {
  const given = fieldsOf(usage);
  const count = (value: unknown) => {
    const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value ?? Number.NaN);
    return number >= 0 && number <= MOST_TOKENS ? Math.round(number) : 0;
  };
  const input = count(given['prompt_tokens']);
  return {
    usage: {
      prompt_tokens: input,
      completion_tokens: count(given['completion_tokens']),
      prompt_tokens_details: {
        cached_tokens: Math.min(input, count(fieldsOf(given['prompt_tokens_details'])['cached_tokens'])),
      },
      input_tokens: count(given['input_tokens']),
      output_tokens: count(given['output_tokens']),
      cache_creation_input_tokens: count(given['cache_creation_input_tokens']),
      cache_read_input_tokens: count(given['cache_read_input_tokens']),
    },
  };
}

function isGiven(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function fieldsOf(value: unknown): Fields {
  return isGiven(value) && !Array.isArray(value) ? (value as Fields) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
