import './comparison.css';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import * as format from '../../i18n/format.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { Card, Page, LoadingOrFailed } from '../../widgets/page.tsx';
import { useNames } from '../calls/filters/filters.ts';
import { periods } from '../dashboard/period.ts';
import { comparisonTexts } from '../texts.ts';
import { Comparison, type Side, useFigures } from './measures.tsx';
import { ScopeForm } from './scope-form.tsx';
import { type Scope, SCOPE, chosenDays, filterOf } from './scope.ts';

const route = getRouteApi('/compare');

const DEFAULT_DAYS = 30;

/** Two choices of operator, group, segment type, scorecard and days side by side, question by question. */
export default function ComparePage() {
  const t = comparisonTexts.use();
  const tz = timeZone();
  const search = route.useSearch();
  const navigate = useNavigate();
  const [one, other] = [useSide('a', search, tz), useSide('b', search, tz)];
  const change = (side: 'a' | 'b', scope: Scope) => {
    const others = Object.fromEntries(Object.entries(search).filter(([name]) => !name.startsWith(`${side}_`)));
    const chosen = Object.fromEntries(
      Object.entries(scope).map(([name, value]) => [`${side}_${name}`, value as string]),
    );
    void navigate({ to: '/compare', search: { ...others, ...chosen }, replace: true });
  };
  const sides = [one, other] as const;
  const isEmpty = sides.every(({ figures }) => figures.total?.calls === 0);
  return (
    <Page title={t('title')} className="comparison">
      <p className="muted">{t('about', { days: format.number(DEFAULT_DAYS), zone: tz })}</p>
      <div className="columns">
        {(['a', 'b'] as const).map((side, at) => (
          <Card key={side} title={t(`side.${side}`)} isRegion={false}>
            <ScopeForm label={t(`side.${side}`)} scope={sides[at]!.scope} onChange={(scope) => change(side, scope)} />
          </Card>
        ))}
      </div>
      <LoadingOrFailed query={one.figures.days} />
      <LoadingOrFailed query={other.figures.days} />
      {isEmpty ? <p className="muted">{t('nothing')}</p> : <Comparison sides={sides} />}
    </Page>
  );
}

function useSide(
  name: 'a' | 'b',
  search: Readonly<Record<string, string | undefined>>,
  tz: string,
): Side & { readonly scope: Scope } {
  const t = comparisonTexts.use();
  const scope: Scope = Object.fromEntries(
    SCOPE.flatMap((field) => {
      const value = search[`${name}_${field}`];
      return value === undefined ? [] : [[field, value]];
    }),
  );
  const period = (chosenDays(scope, tz) ?? periods(DEFAULT_DAYS, tz)).now;
  const filter = filterOf(scope);
  const figures = useFigures(filter, period, tz);
  const card = useNames(scope.card === undefined ? undefined : 'scorecard').get(scope.card ?? '');
  const ofCard =
    card === undefined || scope.revision === undefined ? card : t('ofRevision', { card, revision: scope.revision });
  const names = [scope.operator, scope.group, scope.segment, ofCard].filter((each) => each !== undefined);
  const letter = t(`letter.${name}`);
  return {
    scope,
    title: names.length === 0 ? letter : `${letter}: ${names.join(', ')}`,
    figures,
    calls: { ...filter, ...period },
  };
}
