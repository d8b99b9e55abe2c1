import { request } from 'node:https';
import { text } from 'node:stream/consumers';

/** An object of the cluster, as far as the test reads it. */
export interface Resource {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly generation?: number;
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

/** A kind of resource: where its objects are listed. */
export interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Its plural. */
  readonly name: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

export type ClusterApi = ReturnType<typeof clusterApi>;

export function clusterApi(url: string, token: string, authority: string) {
  /** What the API server warned of, such as pods that Pod Security would refuse. */
  const warnings: string[] = [];

  /** @throws Refused */
  async function ask<Body = Resource>(method: string, path: string, body?: unknown): Promise<Body> {
    const content = body === undefined ? '' : JSON.stringify(body);
    const sent = request(`${url}${path}`, {
      method,
      ca: authority,
      headers: {
        // Node.js gives the body of a DELETE no length by itself.
        'content-length': Buffer.byteLength(content),
        authorization: `Bearer ${token}`,
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      },
    });
    const answer = new Promise<{ status: number; said: string }>((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', (response) => {
        const { warning } = response.headers;
        if (warning !== undefined) warnings.push(warning);
        text(response).then((said) => resolve({ status: response.statusCode ?? 0, said }), reject);
      });
    });
    sent.end(content);
    const { status, said } = await answer;
    if (status >= 300) throw new Refused(status, messageOf(said));
    return (said.startsWith('{') ? JSON.parse(said) : said) as Body;
  }

  async function list(path: string): Promise<readonly Resource[]> {
    return (await ask<{ items: Resource[] }>('GET', path)).items;
  }

  /** The kinds of the cluster, each once, in the version that its group prefers. */
  async function kinds(): Promise<readonly Kind[]> {
    const { groups } = await ask<{ groups: { preferredVersion: { groupVersion: string } }[] }>('GET', '/apis');
    const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)];
    const lists = await Promise.all(
      versions.map(async (apiVersion) => {
        const { resources } = await ask<{ resources: Kind[] }>('GET', root(apiVersion));
        return resources.filter(({ name }) => !name.includes('/')).map((kind) => ({ ...kind, apiVersion }));
      }),
    );
    return lists.flat();
  }

  return { warnings, ask, list, kinds };
}

/** Where the objects of a kind are. */
export function pathOf({ apiVersion, name, namespaced }: Omit<Kind, 'kind' | 'verbs'>, namespace: string): string {
  return `${root(apiVersion)}${namespaced ? `/namespaces/${namespace}` : ''}/${name}`;
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
