import type { Response as ExpressResponse } from 'express';

/** Fields of the request's log line that become known while it is handled. */
export interface LogFields {
  /** The route's pattern. The path itself may hold a signature. */
  route?: string;
  firm_uuid?: string;
  user_uuid?: string;
  call_uuid?: string;
  /** Of the Model Context Protocol. */
  tool?: string;
}

/** What express keeps for a request (`response.locals`). */
export interface RequestState {
  /** The client's address, and the network that rate limits count it with. */
  readonly client: { readonly address: string; readonly network: string };
  readonly logFields: LogFields;
}

export type Response = ExpressResponse<unknown, RequestState>;
