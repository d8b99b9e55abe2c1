/** The service refused a request. The message says what to do next. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /**
   * Stable: programs decide by it. Empty when the answer is not from the service, but from a proxy or an object store.
   */
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>> | null;
  /** Name it when you report a problem. */
  readonly requestId: string | null;

  constructor(response: Response, body: unknown) {
    const said = (typeof body === 'object' && body !== null ? body : {}) as Partial<ApiError>;
    super(said.message ?? `The service answered with ${response.status}.`);
    this.status = response.status;
    this.code = said.code ?? '';
    this.details = said.details ?? null;
    this.requestId = response.headers.get('x-request-id');
  }
}

/** The service does not answer: the network is gone, or the service is. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  constructor(url: string, cause: unknown) {
    super(`${new URL(url).origin} does not answer.`, { cause });
  }
}
