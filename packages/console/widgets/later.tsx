import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';
import { whenOnline } from '../api/connection.ts';

/** A component that is fetched when it is first shown. Until then the fallback stands in its place. */
export function later<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  fallback: ReactNode = null,
): ComponentType<Props> {
  const Part = lazy(() => whenOnline(load)) as ComponentType<Props>;
  return (props) => (
    <Suspense fallback={fallback}>
      <Part {...props} />
    </Suspense>
  );
}
