import { expect } from '@jest/globals';

export interface Problem {
  readonly status: 'error';
  readonly code: string;
  readonly message: string;
  readonly details: Record<string, unknown> | null;
}

/** The body of an error response (docs/api.md, "Errors"). Fails the test when the response is not an error of that shape. */
export async function problemOf(response: {
  status: number;
  headers: Headers;
  text(): Promise<string>;
}): Promise<Problem> {
  const text = await response.text();
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(response.headers.get('content-type')).toMatch(/^application\/json(; charset=utf-8)?$/);
  expect(response.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  const problem = JSON.parse(text) as Problem;
  expect(Object.keys(problem)).toEqual(['status', 'code', 'message', 'details']);
  expect(problem.status).toBe('error');
  expect(problem.code).toMatch(/^[A-Z_]+$/);
  expect(problem.message).toMatch(/\S/);
  return problem;
}
