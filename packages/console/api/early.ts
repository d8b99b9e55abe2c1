import { onUserChange } from '../session/session.ts';

/** An older answer is not what the service would say now. */
const FRESH_MS = 10_000;

const answers = new Map<string, Promise<Response>>();

/** Asks for something that the console will ask for once it has arrived. A failure is met there. */
export function askEarly(url: string, init: RequestInit = {}): void {
  const { href } = new URL(url, document.baseURI);
  const answer = fetch(url, init);
  const forget = () => answers.delete(href);
  answer.then(() => setTimeout(forget, FRESH_MS), forget);
  answers.set(href, answer);
}

/** The answer to an early request, once: a later one asks again. */
export function takeEarly(url: string): Promise<Response> | undefined {
  const { href } = new URL(url, document.baseURI);
  const answer = answers.get(href);
  answers.delete(href);
  return answer;
}

onUserChange(() => answers.clear());
