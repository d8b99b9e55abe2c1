const answers = new Map<string, Promise<Response>>();

/** Asks for something that the console will ask for once it has arrived. A failure is met there. */
export function askEarly(url: string, init: RequestInit = {}): void {
  const answer = fetch(url, init);
  answer.catch(() => {});
  answers.set(new URL(url, document.baseURI).href, answer);
}

/** The answer to an early request, once: a later one asks again. */
export function takeEarly(url: string): Promise<Response> | undefined {
  const { href } = new URL(url, document.baseURI);
  const answer = answers.get(href);
  answers.delete(href);
  return answer;
}
