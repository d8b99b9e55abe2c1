import type { z } from 'zod';
import type { RefusalCode } from './errors.ts';

export const tags = {
  Calls: 'Every call of the firm: find it, read it in full, have it tried or scored again, erase it.',
  Uploads: 'Transcripts and recordings by the file: ask where to put them, put them, have them processed.',
  Batches: 'What one upload brought, and how far it is.',
  Scorecards: 'The questions by which calls are scored. A change makes a new revision; what was scored keeps its own.',
  Campaigns: 'Calls in named groups, run with an API key.',
  'API keys': 'Keys of firms, managed by a system administrator.',
  Files: 'Signed URLs, as the other endpoints give them out. The URL alone is the proof.',
  Service: 'How the service itself is doing.',
} as const;

export type Tag = keyof typeof tags;

/** What the document says of an endpoint beyond what follows from what the endpoint checks. */
export interface About {
  readonly tag: Tag;
  /** A few words, in the imperative. */
  readonly summary: string;
  /** What a client must know to use it right. */
  readonly description?: string;
  /** Good answers, by status. */
  readonly answers: Readonly<Record<number, Said>>;
  /** Codes beyond those of every endpoint of its kind: proof, query, body and path bring their own. */
  readonly refusals?: readonly RefusalCode[];
  /** Named parts of the path that are no uuids. */
  readonly params?: Readonly<Record<string, z.ZodType<string>>>;
  /** Of a form, the parts that are JSON. */
  readonly jsonParts?: Readonly<Record<string, z.ZodType>>;
  /** What the body is, where it is bytes that the handler reads by itself. */
  readonly bytes?: string;
  /** Headers that a request may or must bring, besides those of its proof and its body. */
  readonly headers?: Readonly<Record<string, HeaderSent>>;
}

export interface HeaderSent {
  readonly description: string;
  readonly schema: z.ZodType<string | undefined>;
}

/** One answer. Its example is the first of the schema's `examples`. */
export interface Said {
  readonly description: string;
  /** Of the JSON body; without it, and without `type`, there is none. */
  readonly schema?: z.ZodType;
  /** Media types, one or several, of a body that is no JSON. */
  readonly type?: string | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}
