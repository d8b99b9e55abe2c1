import { ApiError, Unreachable } from '@call-analysis/client/errors';
import { type ReactNode, useEffect, useState } from 'react';
import { useIsOnline } from '../api/connection.ts';
import { shellTexts } from '../app/shell-texts.ts';
import { faultText } from '../i18n/faults/texts.ts';

interface StateProps {
  readonly title: string;
  readonly text?: string;
  /** It replaces the whole page. */
  readonly isPage?: boolean;
  readonly children?: ReactNode;
}

/** A page or list that has nothing to show, and what to do about it. */
export function State({ title, text, isPage = false, children }: StateProps) {
  return (
    <div className="state">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {text !== undefined && <p>{text}</p>}
      {children}
    </div>
  );
}

const SLOW_MS = 6_000;

/** Shown while data is fetched. Adds a note when that takes long. */
export function Loading() {
  const t = shellTexts.use();
  const isOnline = useIsOnline();
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isOnline) return <State title={t('failed.offline')} text={t('offline.page')} />;
  return (
    <div className="state" role="status">
      <span className="visually-hidden">{t('loading')}</span>
      <span className="skeleton" style={{ width: 'min(320px, 80%)', height: 14 }} />
      <span className="skeleton" style={{ width: 'min(260px, 65%)', height: 14 }} />
      <span className="skeleton" style={{ width: 'min(290px, 72%)', height: 14 }} />
      {isSlow && <p>{t('slow')}</p>}
    </div>
  );
}

/** Something could not be fetched, and a button that tries again, where that may help. */
export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const t = shellTexts.use();
  const { title, text } = useFailure(error);
  const isFinal = error instanceof ApiError && error.status === 403;
  return (
    <div className="state" role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      {error instanceof ApiError && error.requestId !== null && error.status >= 500 && (
        <p>
          <code>{error.requestId}</code>
        </p>
      )}
      {retry !== undefined && !isFinal && (
        <button type="button" className="button" onClick={retry}>
          {t('retry')}
        </button>
      )}
    </div>
  );
}

interface LoadingOrFailedProps {
  readonly query: {
    readonly data: unknown;
    readonly isError: boolean;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
}

/** Shows that a query is loading or has failed. Nothing once it has data. */
export function LoadingOrFailed({ query: { data, isError, error, refetch } }: LoadingOrFailedProps) {
  if (data !== undefined) return null;
  return isError ? <Failed error={error} retry={() => void refetch()} /> : <Loading />;
}

/** An error in the user's language, where it is known, else as the service words it. */
export function useFailure(error: unknown): { title: string; text: string } {
  const t = shellTexts.use();
  if (error instanceof Unreachable) return { title: t('failed.offline'), text: t('failed.offlineText') };
  if (error instanceof ApiError) {
    if (error.status === 404) return { title: t('failed.notFound'), text: t('failed.notFoundText') };
    if (error.status === 403) return { title: t('failed.forbidden'), text: t('failed.forbiddenText') };
    if (error.status === 412) return { title: t('failed.changed'), text: t('failed.changedText') };
    if (error.status === 429 || error.status === 503) return { title: t('failed.busy'), text: t('failed.busyText') };
    return { title: t('failed.title'), text: faultText(error.code, error.message) };
  }
  return { title: t('failed.title'), text: t('failed.unknown') };
}
