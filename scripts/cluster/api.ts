import { request } from 'node:https';
import { text } from 'node:stream/consumers';

/** An object of the cluster, as far as the test reads it. */
export interface Resource {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly kind: string }[];
  };
  // What differs from kind to kind is read as it is.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [field: string]: any;
}

/** The API server refused a request. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Discovered {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** A kind of resource: where its objects are listed. */
export interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

export class ClusterApi {
  readonly #url: string;
  readonly #token: string;
  readonly #authority: string;
  /** What the API server warned of, such as pods that Pod Security would refuse. */
  readonly warnings: string[] = [];

  constructor(url: string, token: string, authority: string) {
    this.#url = url;
    this.#token = token;
    this.#authority = authority;
  }

  /** @throws Refused */
  async ask<Body = Resource>(method: string, path: string, body?: unknown): Promise<Body> {
    const content = body === undefined ? '' : JSON.stringify(body);
    const sent = request(`${this.#url}${path}`, {
      method,
      ca: this.#authority,
      headers: {
        // Node.js gives the body of a DELETE no length by itself.
        'content-length': Buffer.byteLength(content),
        authorization: `Bearer ${this.#token}`,
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      },
    });
    const answer = new Promise<{ status: number; said: string }>((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', (response) => {
        const { warning } = response.headers;
        if (warning !== undefined) this.warnings.push(warning);
        text(response).then((said) => resolve({ status: response.statusCode ?? 0, said }), reject);
      });
    });
    sent.end(content);
    const { status, said } = await answer;
    if (status >= 300) throw new Refused(status, messageOf(said));
    return (said.startsWith('{') ? JSON.parse(said) : said) as Body;
  }

  async list(path: string): Promise<readonly Resource[]> {
    return (await this.ask<{ items: Resource[] }>('GET', path)).items;
  }

  /** The kinds of the cluster, each once, in the version that its group prefers. */
  async kinds(): Promise<readonly Kind[]> {
    const { groups } = await this.ask<{ groups: { preferredVersion: { groupVersion: string } }[] }>('GET', '/apis');
    const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)];
    const lists = await Promise.all(
      versions.map(async (apiVersion) => {
        const { resources } = await this.ask<{ resources: Discovered[] }>('GET', root(apiVersion));
        return resources
          .filter(({ name }) => !name.includes('/'))
          .map(({ name, ...rest }) => ({ ...rest, apiVersion, plural: name }));
      }),
    );
    return lists.flat();
  }
}

/** Where the objects of a kind are. */
export function pathOf({ apiVersion, plural, namespaced }: Omit<Kind, 'kind' | 'verbs'>, namespace?: string): string {
  return `${root(apiVersion)}${namespaced && namespace !== undefined ? `/namespaces/${namespace}` : ''}/${plural}`;
}

function root(apiVersion: string): string {
  return apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
}

function messageOf(said: string): string {
  try {
    return (JSON.parse(said) as { message: string }).message;
  } catch {
    return said;
  }
}
