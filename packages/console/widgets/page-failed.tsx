import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Failed } from './states.tsx';

/** In place of a page that failed. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <Failed
      error={error}
      retry={() => {
        reset();
        void router.invalidate();
      }}
    />
  );
}
