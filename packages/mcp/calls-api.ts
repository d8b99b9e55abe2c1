import type { components } from '@call-analysis/client/api-types';

export type Schemas = components['schemas'];

/** Parameters of a request by name. Undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/**
 * What the tools read of the API, as the caller and with the caller's rights. Names, parameters and answers are those of the
 * operations in the OpenAPI document. Rejects with Refusal when the API refuses the request.
 */
export interface CallsApi {
  listCalls(query: Query): Promise<Schemas['CallPage']>;
  getCall(uuid: string): Promise<Schemas['CallDetail']>;
  getStatistics(query: Query): Promise<Schemas['Statistics']>;
  listScorecards(query: Query): Promise<Schemas['ScorecardPage']>;
  getScorecard(uuid: string): Promise<Schemas['Scorecard']>;
}

/** A request that the API refuses. Its message says what to do next. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>> | null;

  constructor(code: string, message: string, details: Readonly<Record<string, unknown>> | null = null) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
