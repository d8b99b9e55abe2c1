/** What the service answers to a request that it refuses. Its message says what to do next. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly requestId: string | null;

  constructor(status: number, code: string, message: string, details: ApiError['details'], requestId: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
  }

  static from(response: Response, body: unknown): ApiError {
    const { code, message, details } = (body ?? {}) as {
      code?: string;
      message?: string;
      details?: ApiError['details'];
    };
    const text = message ?? `The service answered with ${response.status}.`;
    return new ApiError(response.status, code ?? '', text, details ?? null, response.headers.get('x-request-id'));
  }
}

/** The service does not answer: the network is gone, or the service is. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  constructor() {
    super('The service does not answer.');
  }
}

/** Whether waiting may mend it. */
export function isPassing(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof ApiError && (error.status >= 500 || error.status === 429));
}
