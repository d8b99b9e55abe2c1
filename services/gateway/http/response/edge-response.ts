import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Notes } from '../access-log.ts';

const never = (): boolean => false;

/**
 * An answer whose head says what all answers say, besides what whoever answers has to add. Headers that are set one by one
 * take Node four times as long as those that are handed over together.
 */
export class EdgeResponse extends ServerResponse {
  /** For the line of the request in the log. */
  readonly notes: Notes = {};
  /** Asked when the head is written, which may be long after the request came: whether the connection ends with this answer. */
  isLast: () => boolean = never;
  /** Names in lower case and values, by turns. */
  readonly #common: string[] = [];

  /** For every head, whoever writes it; names in lower case and values, by turns. */
  say(...headers: readonly (readonly string[])[]): void {
    for (const some of headers) this.#common.push(...some);
  }

  /** One more item of a common header that is a list. */
  append(name: string, item: string): void {
    const at = this.#common.indexOf(name);
    if (at === -1) this.#common.push(name, item);
    else this.#common[at + 1] += `, ${item}`;
  }

  /** A header that is given takes the place of a common one. */
  override writeHead(status: number, given: string | OutgoingHttpHeaders | OutgoingHttpHeader[] = {}): this {
    if (typeof given === 'string' || Array.isArray(given)) throw new TypeError('Give headers as an object.');
    const head: string[] = this.#common;
    if (this.isLast()) head.push('connection', 'close');
    for (const name of Object.keys(given)) {
      const value = given[name];
      const at = head.indexOf(name);
      if (value === undefined) continue;
      if (at === -1) for (const each of Array.isArray(value) ? value : [value]) head.push(name, String(each));
      else head[at + 1] = String(value);
    }
    return super.writeHead(status, head);
  }
}
