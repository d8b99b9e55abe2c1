import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  generateText,
  jsonSchema,
  type LanguageModel as Model,
  type LanguageModelUsage,
  NoObjectGeneratedError,
  Output,
} from 'ai';
import { Agent, fetch as fetchBy } from 'undici';
import { type LanguageModelConfig, Structured } from './config.ts';
import { ModelFailure, type Quirk } from './outcome.ts';
import type { Tokens } from './prices.ts';
import { readAnswer } from './read-answer.ts';
import { readFailure } from './read-failure.ts';

const PROBE_MS = 2_000;
const STRICTEST: Structured = 'json_schema';

/** A request. The first two parts are the same for many calls, so that a provider's cache can serve them. */
export interface Prompt {
  readonly instructions: string;
  /** The conversation: a message of its own. */
  readonly conversation: string;
  /** A JSON schema of the answer. */
  readonly schema: object;
  readonly maxOutputTokens: number;
}

export interface Reply {
  /** Text that should be JSON. */
  readonly text: string;
  readonly isCutOff: boolean;
  readonly tokens: Tokens;
}

/** Remembers how a server can be asked for JSON, for all processes. */
interface CapabilityStore {
  findStructured(url: string, model: string): Promise<string | null>;
  saveStructured(url: string, model: string, structured: string): Promise<void>;
}

/** Asks a language model. Rejects with ModelFailure. */
export interface LanguageModel {
  readonly model: string;
  ask(prompt: Prompt, signal?: AbortSignal): Promise<Reply>;
  /** Whether the server answers at all. Costs nothing. */
  isThere(): Promise<boolean>;
}

// The library would print its warnings to standard error; what matters is read from the answers.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

export function openLanguageModel(config: LanguageModelConfig, store: CapabilityStore): LanguageModel {
  let known: Structured | null = config.structured ?? null;
  let hasAnswered = false;
  const quirks = new Set<Quirk>();
  const modelFor = openModels(config);
  let reading: Promise<void> | undefined;

  const remembered = async (): Promise<Structured | null> => {
    if (known !== null) return known;
    // Not remembering only costs the requests that find it out again.
    await (reading ??= store.findStructured(config.url, config.model).then(
      (text) => {
        known ??= Structured.safeParse(text).data ?? null;
      },
      () => {
        reading = undefined;
      },
    ));
    return known;
  };

  const learn = (structured: Structured): void => {
    const hadAnswered = hasAnswered;
    hasAnswered = true;
    // What has answered once stays: a single error that looks like a refusal of it is no reason to leave it.
    if (known === structured || hadAnswered) return;
    known = structured;
    void store.saveStructured(config.url, config.model, structured).catch(() => {});
  };

  return {
    model: config.model,
    async isThere() {
      const key = config.apiKey ?? '';
      const headers: Record<string, string> =
        config.provider === 'anthropic'
          ? { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
          : { authorization: `Bearer ${key}` };
      try {
        const response = await fetch(`${config.url}/models`, { headers, signal: AbortSignal.timeout(PROBE_MS) });
        await response.body?.cancel();
        // A server without such a list is there too.
        return response.ok || response.status === 404;
      } catch {
        return false;
      }
    },
    async ask(prompt, signal) {
      let way: Structured = (await remembered()) ?? STRICTEST;
      let refusedRequests = 0;
      // Each turn changes the way to ask for JSON or learns one quirk, so this ends.
      for (;;) {
        const quirksBefore = quirks.size;
        try {
          const reply = await askOnce(config, modelFor, way, quirks, prompt, signal);
          if (config.structured === undefined) learn(way);
          return { ...reply, tokens: { ...reply.tokens, requests: reply.tokens.requests + refusedRequests } };
        } catch (error) {
          if (!(error instanceof ModelFailure)) throw error;
          refusedRequests += 1;
          if (error.kind === 'particular' && error.quirk !== null) quirks.add(error.quirk);
          // Also when another request has learned a quirk meanwhile: without it, this one failed for that reason.
          if (quirks.size > quirksBefore) continue;
          if (error.kind !== 'unsupported' && error.kind !== 'particular') throw error;
          const next = Structured.options[Structured.options.indexOf(way) + 1];
          if (next === undefined || config.structured !== undefined) throw cannotBeAsked(error);
          way = next;
        }
      }
    },
  };
}

function cannotBeAsked(cause: unknown): ModelFailure {
  const ways = Structured.options.join(', ');
  return new ModelFailure(
    'misconfigured',
    `The server of the language model does not take the requests of this service. Set LLM_STRUCTURED to one of ${ways} and restart; calls wait meanwhile.`,
    { cause },
  );
}

async function askOnce(
  config: LanguageModelConfig,
  modelFor: ReturnType<typeof openModels>,
  structured: Structured,
  quirks: ReadonlySet<Quirk>,
  { instructions, conversation, schema, maxOutputTokens }: Prompt,
  signal: AbortSignal | undefined,
): Promise<Reply> {
  // AbortSignal.timeout would keep its timer, and with it the request, until the time is over: minutes after the answer.
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new DOMException('The time is over.', 'TimeoutError')),
    config.timeoutMs,
  );
  const inPrompt = structured === 'prompt' || structured === 'json_object';
  const system = inPrompt
    ? `${instructions}\n\nThe JSON schema of your answer:\n${JSON.stringify(schema)}`
    : instructions;
  const wanted = Output.object({ schema: jsonSchema(schema as Parameters<typeof jsonSchema>[0]), name: 'analysis' });
  try {
    const result = await generateText({
      model: modelFor(structured, quirks),
      messages: quirks.has('no_system_message')
        ? [{ role: 'user', content: `${system}\n\n${conversation}` }]
        : [
            {
              role: 'system',
              content: system,
              // Anthropic caches only what a request marks. Other providers ignore this.
              providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
            },
            { role: 'user', content: conversation },
          ],
      allowSystemInMessages: true,
      ...(!quirks.has('no_temperature') && { temperature: 0 }),
      maxOutputTokens,
      maxRetries: 0,
      abortSignal: AbortSignal.any(signal === undefined ? [deadline.signal] : [signal, deadline.signal]),
      ...(structured !== 'prompt' && { output: wanted }),
      // Anthropic takes a schema as the format of the answer, where the model knows that, or as that of a tool.
      ...(config.provider === 'anthropic' &&
        structured !== 'json_schema' && { providerOptions: { anthropic: { structuredOutputMode: 'jsonTool' } } }),
    });
    return replyOf(result.text, result.finishReason, result.usage, result.response.body);
  } catch (error) {
    if (signal?.aborted === true) {
      throw new ModelFailure('broken_off', 'The answer is no longer wanted.', { isUnanswered: true });
    }
    // The text is not JSON of this schema. The caller decides whether parts of it are usable.
    if (NoObjectGeneratedError.isInstance(error)) {
      return replyOf(error.text ?? '', error.finishReason, error.usage, error.response?.body);
    }
    if (error instanceof ModelFailure) throw error;
    throw readFailure(deadline.signal.aborted ? deadline.signal.reason : error, config.model, config.timeoutMs);
  } finally {
    clearTimeout(timer);
  }
}

function replyOf(
  text: string,
  finish: string | undefined,
  usage: LanguageModelUsage | undefined,
  body: unknown,
): Reply {
  const tokens: Tokens = {
    requests: 1,
    input_tokens: usage?.inputTokens ?? 0,
    cached_input_tokens: usage?.inputTokenDetails.cacheReadTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
  };
  if (finish === 'content-filter' || refusalIn(body)) {
    throw new ModelFailure(
      'refused',
      'The language model refuses to answer about this call. Retry the call, or use another model.',
      { tokens },
    );
  }
  return { text, isCutOff: finish === 'length', tokens };
}

/** OpenAI says in a field of the message that the model refuses; Anthropic by its stop reason. */
function refusalIn(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const { choices, stop_reason } = body as { choices?: { message?: { refusal?: unknown } }[]; stop_reason?: unknown };
  const refusal = Array.isArray(choices) ? choices[0]?.message?.refusal : undefined;
  return (typeof refusal === 'string' && refusal !== '') || stop_reason === 'refusal';
}

/** LLM_TIMEOUT alone says how long an answer may take. Node's own fetch waits 300 s for its first byte. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** Asks a server, and reduces its answer to what is read of it. */
function openFetch(provider: LanguageModelConfig['provider']): typeof fetch {
  return async (url, init) => {
    // Both are the same interface; undici is part of Node.
    const request = { ...init, dispatcher: patient } as Parameters<typeof fetchBy>[1];
    const response = await fetchBy(String(url), request);
    const text = await response.text();
    const { status, body } = response.ok ? readAnswer(provider, text) : { status: response.status, body: text };
    // A status that has no body, such as 304, is no answer either.
    const isBodiless = status < 200 || status === 304;
    return new Response(body, { status: isBodiless ? 503 : status, headers: [...response.headers] });
  };
}

/** The library's model for a way to ask. Making one takes longer than asking it, so they are kept. */
function openModels({ provider, url, apiKey, model }: LanguageModelConfig) {
  const opened = new Map<string, Model>();
  const askServer = openFetch(provider);
  return (structured: Structured, quirks: ReadonlySet<Quirk>): Model => {
    const limit = quirks.has('max_completion_tokens') ? 'max_completion_tokens' : 'max_tokens';
    const key = `${structured} ${limit}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const made =
      provider === 'anthropic'
        ? createAnthropic({ baseURL: url, apiKey: apiKey ?? '', fetch: askServer })(model)
        : createOpenAICompatible({
            name: 'llm',
            baseURL: url,
            fetch: askServer,
            supportsStructuredOutputs: structured === 'json_schema' || structured === 'json_object_schema',
            ...(apiKey !== undefined && { apiKey }),
            transformRequestBody({ max_tokens, response_format, ...body }: RequestBody) {
              return { ...body, [limit]: max_tokens, ...formatOf(structured, response_format) };
            },
          })(model);
    opened.set(key, made);
    return made;
  };
}

interface RequestBody extends Record<string, unknown> {
  readonly max_tokens?: unknown;
  readonly response_format?: { readonly json_schema?: { readonly schema: unknown } };
}

/** llama.cpp's Python server takes a schema with json_object, and refuses json_schema. */
function formatOf(structured: Structured, format: RequestBody['response_format']): object {
  if (format === undefined) return {};
  if (structured !== 'json_object_schema') return { response_format: format };
  return { response_format: { type: 'json_object', schema: format.json_schema?.schema } };
}
