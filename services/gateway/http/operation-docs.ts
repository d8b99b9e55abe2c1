import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';

export const tags = {
  Calls: 'Find a call of the firm, read it with its analyses, retry it, analyze it again, or erase it.',
  Uploads: 'Upload transcripts and recordings: request upload URLs, put the files there, have them processed.',
  Batches: 'The calls that one upload brought, and their progress.',
  Reviews: "People's judgement compared with the machine's: reviews, comments, and how far both agree.",
  Desk: 'What a team of reviewers shares: saved views, assignments, disputes, calibrations, and what waits for a person.',
  Scorecards:
    'The questions by which calls are scored. A change makes a new revision; calls that were scored keep theirs.',
  Webhooks: 'Addresses of the firm to which events are sent, signed as Standard Webhooks 1.0 defines.',
  Campaigns: 'Named groups of calls, managed with an API key.',
  'API keys': 'Keys of firms, managed by a system administrator.',
  'Firm and users': 'The settings of the firm, and the people who work with its calls.',
  Audit: 'Who did what in the firm, when and from where.',
  Sessions: 'Sign in with a one-time link, for pages that people use.',
  Usage: 'What language models cost, and budgets for it.',
  Files: 'Signed URLs, as other endpoints return them. The URL itself is the authorization.',
  Service: 'The state of the service itself.',
} as const;

export type Tag = keyof typeof tags;

/** Documentation of an endpoint that does not follow from its other fields. */
export interface OperationDocs {
  readonly tag: Tag;
  /** In lower camel case. Generated clients name their methods by it. */
  readonly id: string;
  /** A few words, in the imperative. */
  readonly summary: string;
  /** Facts that a client needs to use the endpoint correctly. */
  readonly description?: string;
  /** Successful responses by status. */
  readonly responses: Readonly<Record<number, ResponseDocs>>;
  /** Error codes beyond those that follow from the endpoint's credentials, query, body and path. */
  readonly errors?: readonly ErrorCode[];
  /** Path parameters that are not uuids. */
  readonly params?: Readonly<Record<string, z.ZodType<string>>>;
  /** The parts of a form that are JSON. */
  readonly jsonParts?: Readonly<Record<string, z.ZodType>>;
  /** Describes a body of bytes that the handler reads itself. */
  readonly bytes?: string;
  /** Request headers besides those of credentials and body. */
  readonly headers?: Readonly<Record<string, HeaderDocs>>;
}

export interface HeaderDocs {
  readonly description: string;
  readonly schema: z.ZodType<string | undefined>;
}

/** One response. Its example is the first of the schema's `examples`. */
export interface ResponseDocs {
  readonly description: string;
  /** Of the JSON body. A response with neither `schema` nor `type` has no body. */
  readonly schema?: z.ZodType;
  /** Media types of a body that is not JSON. */
  readonly type?: string | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}
