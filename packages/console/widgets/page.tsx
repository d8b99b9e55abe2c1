import { ApiError, Unreachable } from '@call-analysis/client/errors';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import type { Schemas } from '../api/client.ts';
import { useIsOnline } from '../api/connection.ts';
import { faultText, fieldText } from '../i18n/faults/texts.ts';
import { shellTexts } from '../i18n/texts.ts';
import { Button } from './controls.tsx';
import { Icon } from './icon.tsx';

export function useTitle(title: string): void {
  const t = shellTexts.use();
  useEffect(() => {
    document.title = `${title} · ${t('product')}`;
  });
}

interface PageProps {
  readonly title: string;
  readonly className?: string;
  /** The pages above it, as links. */
  readonly crumbs?: ReactNode;
  /** What stands beside the heading. */
  readonly beside?: ReactNode;
  /** The buttons at the end of the line of the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, className = '', crumbs, beside, actions, children }: PageProps) {
  useTitle(title);
  return (
    <div className={`page ${className}`}>
      {crumbs !== undefined && <Crumbs>{crumbs}</Crumbs>}
      <PageHead title={title} actions={actions}>
        {beside}
      </PageHead>
      {children}
    </div>
  );
}

export function Crumbs({ children }: { children: ReactNode }) {
  const t = shellTexts.use();
  return (
    <nav className="crumbs" aria-label={t('path')}>
      <Icon name="left" size={12} />
      {children}
    </nav>
  );
}

export function PageHead({
  title,
  actions,
  children,
}: Pick<PageProps, 'title' | 'actions'> & { children?: ReactNode }) {
  return (
    <div className="page-head">
      <h1 className="foreign">{title}</h1>
      {children}
      {actions !== undefined && <div className="actions">{actions}</div>}
    </div>
  );
}

interface CardProps {
  readonly title: string;
  readonly head?: ReactNode;
  /** A landmark by its title. Not where what is in it is one by the same title. */
  readonly isRegion?: boolean;
  readonly children: ReactNode;
}

/** A part of a page, under its heading. */
export function Card({ title, head, isRegion = true, children }: CardProps) {
  return (
    <section className="card card-body stack" aria-label={isRegion ? title : undefined}>
      {head === undefined ? (
        <h2>{title}</h2>
      ) : (
        <div className="row">
          <h2 className="grow">{title}</h2>
          {head}
        </div>
      )}
      {children}
    </section>
  );
}

interface TabProps extends Pick<LinkProps, 'to' | 'search'> {
  readonly isShown: boolean;
  readonly children: ReactNode;
}

/** One of the parts of a page that are shown one at a time. */
export function Tab({ isShown, children, ...link }: TabProps) {
  return (
    <Link {...link} className={isShown ? 'chip chip-on' : 'chip'} aria-current={isShown ? 'page' : undefined}>
      {children}
    </Link>
  );
}

export type Fact = readonly [name: string, value: ReactNode];

/** Names with their values. A fact without a value is left out. */
export function Facts({ of, className = '' }: { of: readonly (Fact | false)[]; className?: string }) {
  return (
    <dl className={`facts ${className}`}>
      {of
        .filter((each) => each !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="foreign">{value}</dd>
          </div>
        ))}
    </dl>
  );
}

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
export function Failed({ error, retry }: { error: unknown; retry: () => void }) {
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
      {!isFinal && <Button onClick={retry}>{t('retry')}</Button>}
    </div>
  );
}

export type Query = Pick<UseQueryResult, 'data' | 'isError' | 'error' | 'refetch'>;

/** Shows that a query is loading or has failed. Nothing once it has data. */
export function LoadingOrFailed({ query: { data, isError, error, refetch } }: { query: Query }) {
  if (data !== undefined) return null;
  return isError ? <Failed error={error} retry={() => void refetch()} /> : <Loading />;
}

const STATUSES = {
  403: 'forbidden',
  404: 'notFound',
  412: 'changed',
  429: 'busy',
  503: 'busy',
} as const as Readonly<Record<number, 'forbidden' | 'notFound' | 'changed' | 'busy'>>;

/** An error in the user's language, where it is known, else as the service words it. */
export function useFailure(error: unknown): { title: string; text: string } {
  const t = shellTexts.use();
  if (error instanceof Unreachable) return { title: t('failed.offline'), text: t('failed.offlineText') };
  if (error instanceof ApiError) {
    const known = STATUSES[error.status];
    if (known !== undefined) return { title: t(`failed.${known}`), text: t(`failed.${known}Text`) };
    return { title: t('failed.title'), text: faultText(error.code, error.message, error.details) };
  }
  return { title: t('failed.title'), text: t('failed.unknown') };
}

/** Why an action did not work, with what is wrong with each field. */
export function Fault({ error }: { error: unknown }) {
  return (
    <p role="alert" className="fault foreign">
      {useFault(error)}
    </p>
  );
}

/** The same as a text. */
export function useFault(error: unknown): string {
  const { title, text } = useFailure(error);
  const fields = error instanceof ApiError ? fieldFaults(error.code, error.details) : [];
  return [`${title}.`, text, ...fields].join(' ');
}

/** What is wrong with each field, in sentences. */
export function fieldFaults(code: string, details: ApiError['details']): readonly string[] {
  const fields = (details?.['fields'] ?? []) as Schemas['FieldError'][];
  // Some errors say the same of their field as of the whole.
  return fields.filter((field) => String(field.code) !== code).map((field) => ensureStop(fieldText(field)));
}

function ensureStop(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** In place of a page that there is not, or that the user's role does not have. */
export function NoPage({ why }: { why: 'notFound' | 'notYours' }) {
  const t = shellTexts.use();
  return (
    <State isPage title={t(`${why}.title`)} text={t(`${why}.text`)}>
      <Link to="/" className="button">
        {t('notFound.back')}
      </Link>
    </State>
  );
}
