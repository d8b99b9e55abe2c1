import findMyWay from 'find-my-way';
import type { Endpoint } from './endpoint.ts';

/** A path with all that can be done there. */
export interface Route {
  readonly path: string;
  readonly endpoints: readonly Endpoint[];
  /** For a method that is none of them. */
  readonly allow: string;
}

/** Named parts of a path, decoded. */
export type Params = Readonly<Record<string, string | undefined>>;

/** Finds what is at a URL's path, a slash behind it or not; null when nothing is, or the path cannot be decoded. */
export function routerOf(endpoints: readonly Endpoint[]): (url: string) => { route: Route; params: Params } | null {
  // It is asked by path alone, whatever the method: another one than those of the path is told which there are.
  const router = findMyWay({ ignoreTrailingSlash: true, caseSensitive: true, maxParamLength: 16_384 });
  for (const [path, onPath] of Map.groupBy(endpoints, (each) => each.path)) {
    const methods = onPath.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const route: Route = { path, endpoints: onPath, allow: [...methods, 'OPTIONS'].join(', ') };
    router.on('GET', path.replace(/\*\w+$/, '*'), () => {}, route);
  }
  return (url) => {
    const found = router.find('GET', url);
    return found === null ? null : { route: found.store as Route, params: found.params };
  };
}

/** HEAD is GET without the body. */
export function endpointFor({ endpoints }: Route, method: string): Endpoint | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method;
  return endpoints.find((each) => each.method === wanted);
}
