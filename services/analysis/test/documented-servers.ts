/** An answer with an error. */
export interface Refusal {
  readonly status: number;
  readonly body: object;
  readonly headers?: Record<string, string>;
}

/** A request, as far as servers differ in what they take of it. */
export type Asked = Readonly<Record<string, unknown>> & { readonly response_format?: { readonly type: string } };

/** What a server of docs/language-models.md answers, field by field. */
export interface DocumentedServer {
  answer(content: string, asked: Asked): object;
  /** What it refuses in the requests that are tried first; null when it takes this one. */
  refuses(asked: Asked): Refusal | null;
  /** The way to ask for JSON that is found out. */
  readonly structured: string;
  /** Null where a conversation that is too long is cut without a word. */
  readonly tooLong: Refusal | null;
  readonly busy: Refusal & { readonly pauseMs: number | null };
  readonly wrong: Refusal & { readonly variable: string };
  /** The model, or a filter before it, does not want to answer. Null where there is neither. */
  readonly unwilling: Refusal | null;
}

const INPUT = 1200;
const OUTPUT = 300;
const takesAll = () => null;
const error = (message: string, type: string | null, more: object = {}) => ({
  error: { message, type, param: null, code: null, ...more },
});

function completion(
  model: string,
  message: object,
  more: object = {},
  choice: object = {},
  usage: object = {},
): object {
  return {
    id: 'chatcmpl-614',
    object: 'chat.completion',
    created: 1_764_200_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...choice }],
    usage: { prompt_tokens: INPUT, completion_tokens: OUTPUT, total_tokens: INPUT + OUTPUT, ...usage },
    ...more,
  };
}

/** A reasoning model, as OpenAI and Azure serve it: it has one temperature, and counts its thoughts. */
const reasoning = {
  refuses(asked: Asked): Refusal | null {
    const fault = (param: string, code: string, message: string): Refusal => ({
      status: 400,
      body: error(message, 'invalid_request_error', { param, code }),
    });
    if ('max_tokens' in asked)
      return fault(
        'max_tokens',
        'unsupported_parameter',
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      );
    if ('temperature' in asked)
      return fault(
        'temperature',
        'unsupported_value',
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
      );
    return null;
  },
  usage: {
    prompt_tokens_details: { cached_tokens: 1024, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 192, audio_tokens: 0, accepted_prediction_tokens: 0 },
  },
  tooLong: {
    status: 400,
    body: error(
      'Input tokens exceed the configured limit of 8192 tokens. Your messages resulted in 12345 tokens. Please reduce the length of the messages.',
      'invalid_request_error',
      { param: 'messages', code: 'context_length_exceeded' },
    ),
  },
};
const SAFE = {
  hate: { filtered: false, severity: 'safe' },
  jailbreak: { filtered: false, detected: false },
  violence: { filtered: false, severity: 'safe' },
};

export const DOCUMENTED_SERVERS: Readonly<Record<string, DocumentedServer>> = {
  Ollama: {
    answer: (content) =>
      completion(
        'qwen3:8b',
        { content, reasoning: 'Okay, {the user} wants JSON.' },
        { system_fingerprint: 'fp_ollama' },
      ),
    refuses: takesAll,
    structured: 'json_schema',
    tooLong: null,
    busy: {
      status: 503,
      body: error('server busy, please try again.  maximum pending requests exceeded', 'api_error'),
      pauseMs: null,
    },
    wrong: { status: 404, body: error("model 'qwen3:8b' not found", 'not_found_error'), variable: 'LLM_MODEL' },
    unwilling: null,
  },
  'llama.cpp': {
    answer: (content) =>
      completion(
        'model',
        { content, reasoning_content: 'The operator said {it}.' },
        {
          system_fingerprint: 'b6396-186415d',
          timings: { cache_n: 236, prompt_n: 964, prompt_ms: 30.9, prompt_per_second: 32.3, predicted_n: OUTPUT },
        },
      ),
    refuses: takesAll,
    structured: 'json_schema',
    // Some releases send this with the status 200.
    tooLong: {
      status: 200,
      body: {
        error: {
          code: 400,
          message:
            'the request exceeds the available context size. try increasing the context size or enable context shift',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 14_429,
          n_ctx: 8192,
        },
      },
    },
    busy: {
      status: 503,
      body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
      pauseMs: null,
    },
    wrong: {
      status: 401,
      body: { error: { code: 401, message: 'Invalid API Key', type: 'authentication_error' } },
      variable: 'LLM_API_KEY',
    },
    unwilling: null,
  },
  "llama.cpp's Python server": {
    answer: (content) => completion('model', { content }, {}, { logprobs: null }),
    refuses: ({ response_format: format }) =>
      format?.type === 'json_schema'
        ? {
            status: 500,
            body: error(
              `[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': "Input should be 'text' or 'json_object'", 'input': 'json_schema'}]`,
              'internal_server_error',
            ),
          }
        : null,
    structured: 'json_object_schema',
    tooLong: {
      status: 400,
      body: error(
        "This model's maximum context length is 8192 tokens, however you requested 12345 tokens (11385 in your prompt; 960 for the completion). Please reduce your prompt; or completion length.",
        'invalid_request_error',
        { param: 'messages', code: 'context_length_exceeded' },
      ),
    },
    busy: { status: 500, body: error('Internal Server Error', 'internal_server_error'), pauseMs: null },
    wrong: { status: 401, body: { detail: 'Invalid API key' }, variable: 'LLM_API_KEY' },
    unwilling: null,
  },
  vLLM: {
    answer: (content) =>
      completion(
        'Qwen/Qwen3-8B',
        {
          content,
          reasoning_content: 'The client waits for a {parcel}.',
          refusal: null,
          annotations: null,
          audio: null,
          function_call: null,
          tool_calls: [],
        },
        { service_tier: null, system_fingerprint: null, prompt_logprobs: null, kv_transfer_params: null },
        { logprobs: null, stop_reason: null, token_ids: null },
        { prompt_tokens_details: null },
      ),
    refuses: takesAll,
    structured: 'json_schema',
    tooLong: {
      status: 400,
      body: {
        object: 'error',
        message:
          "This model's maximum context length is 8192 tokens. However, you requested 12345 tokens (11385 in the messages, 960 in the completion). Please reduce the length of the messages or completion. None",
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
    },
    busy: {
      status: 500,
      body: {
        object: 'error',
        message: 'EngineCore encountered an issue. See stack trace (above) for the root cause.',
        type: 'InternalServerError',
        param: null,
        code: 500,
      },
      pauseMs: null,
    },
    wrong: {
      status: 404,
      body: {
        object: 'error',
        message: 'The model `Qwen/Qwen3-8B` does not exist.',
        type: 'NotFoundError',
        param: null,
        code: 404,
      },
      variable: 'LLM_MODEL',
    },
    unwilling: null,
  },
  OpenAI: {
    answer: (content) =>
      completion(
        'gpt-5-mini-2025-08-07',
        { content, refusal: null, annotations: [] },
        { service_tier: 'default', system_fingerprint: null },
        {},
        reasoning.usage,
      ),
    refuses: reasoning.refuses,
    structured: 'json_schema',
    tooLong: reasoning.tooLong,
    busy: {
      status: 429,
      body: error(
        'Rate limit reached for gpt-5-mini on tokens per min (TPM): Limit 200000, Used 199000, Requested 4000. Please try again in 900ms.',
        'tokens',
        { code: 'rate_limit_exceeded' },
      ),
      headers: { 'retry-after-ms': '900', 'retry-after': '1', 'x-ratelimit-remaining-tokens': '1000' },
      pauseMs: 900,
    },
    wrong: {
      status: 401,
      body: error('Incorrect API key provided: sk-…', 'invalid_request_error', { code: 'invalid_api_key' }),
      variable: 'LLM_API_KEY',
    },
    unwilling: {
      status: 200,
      body: completion('gpt-5-mini-2025-08-07', { content: null, refusal: "I'm sorry, I can't help with that." }),
    },
  },
  'Azure OpenAI': {
    answer: (content) =>
      completion(
        'gpt-5-mini-2025-08-07',
        { content, refusal: null, annotations: [] },
        { prompt_filter_results: [{ prompt_index: 0, content_filter_results: SAFE }], system_fingerprint: null },
        { content_filter_results: SAFE, logprobs: null },
        reasoning.usage,
      ),
    refuses: reasoning.refuses,
    structured: 'json_schema',
    tooLong: reasoning.tooLong,
    busy: {
      status: 429,
      body: {
        error: {
          code: '429',
          message:
            'Requests have exceeded the token rate limit of your current pricing tier. Please retry after 57 seconds.',
        },
      },
      headers: { 'retry-after': '57' },
      pauseMs: 57_000,
    },
    wrong: {
      status: 404,
      body: { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } },
      variable: 'LLM_MODEL',
    },
    unwilling: {
      status: 400,
      body: error(
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
        null,
        {
          param: 'prompt',
          code: 'content_filter',
          status: 400,
          innererror: {
            code: 'ResponsibleAIPolicyViolation',
            content_filter_result: { ...SAFE, violence: { filtered: true, severity: 'medium' } },
          },
        },
      ),
    },
  },
  Anthropic: {
    answer: (content) => ({
      id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
      type: 'message',
      role: 'assistant',
      model: 'claude-haiku-4-5-20251001',
      content: [{ type: 'text', text: content }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 100,
        cache_creation_input_tokens: 76,
        cache_read_input_tokens: 1024,
        cache_creation: { ephemeral_5m_input_tokens: 76, ephemeral_1h_input_tokens: 0 },
        output_tokens: OUTPUT,
        service_tier: 'standard',
      },
    }),
    refuses: takesAll,
    structured: 'json_schema',
    tooLong: {
      status: 400,
      body: {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 12345 tokens > 8192 maximum' },
        request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
      },
    },
    busy: {
      status: 529,
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: null },
      headers: { 'retry-after': '20' },
      pauseMs: 20_000,
    },
    wrong: {
      status: 401,
      body: { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
      variable: 'LLM_API_KEY',
    },
    unwilling: {
      status: 200,
      body: {
        id: 'msg_01',
        type: 'message',
        role: 'assistant',
        model: 'claude-haiku-4-5-20251001',
        content: [],
        stop_reason: 'refusal',
        stop_sequence: null,
        usage: { input_tokens: 1200, output_tokens: 1 },
      },
    },
  },
};
