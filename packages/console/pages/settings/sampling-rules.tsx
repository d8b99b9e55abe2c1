import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Confirm } from '../../widgets/confirm.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { LoadingOrFailed, State } from '../../widgets/states.tsx';
import { done, failed } from '../../widgets/toasts.tsx';
import { SamplingRuleForm } from './sampling-rule-form.tsx';
import { settingsTexts } from './texts.ts';

type Rule = Schemas['SamplingRule'];

const RULES = ['sampling-rules'] as const;
/** As many as a firm may have. */
const MOST_RULES = 100;
const path = (uuid: string) => ({ params: { path: { uuid } } });

/** Which calls are chosen by chance for a review. */
export function SamplingRules() {
  const t = settingsTexts.use();
  const client = useQueryClient();
  const [isMaking, setMaking] = useState(false);
  const [deleted, setDeleted] = useState<Rule | null>(null);
  const rules = useQuery({
    queryKey: RULES,
    queryFn: ({ signal }) =>
      send(api.GET('/api/v1/sampling-rules', { params: { query: { size: MOST_RULES } }, signal })),
  });
  const refresh = () => client.invalidateQueries({ queryKey: RULES });
  const toggle = useMutation({
    mutationFn: ({ uuid, enabled }: Rule) =>
      send(api.PATCH('/api/v1/sampling-rules/{uuid}', { ...path(uuid), body: { enabled: !enabled } })),
    onSuccess: refresh,
    onError: failed,
  });
  const remove = useMutation({
    mutationFn: ({ uuid }: Rule) => send(api.DELETE('/api/v1/sampling-rules/{uuid}', path(uuid))),
    onSuccess: () => {
      done(t('rules.deleted'));
      return refresh();
    },
    onError: failed,
  });
  return (
    <section className="settings-part">
      <div className="settings-row">
        <p className="muted settings-text">{t('rules.about')}</p>
        <button type="button" className="button button-primary" onClick={() => setMaking(true)}>
          <Icon name="plus" />
          {t('rules.create')}
        </button>
      </div>
      <LoadingOrFailed query={rules} />
      {rules.data?.count === 0 && <State title={t('rules.none')} text={t('rules.noneText')} />}
      {rules.data?.items.map((rule) => (
        <article key={rule.uuid} className="card card-body settings-part" aria-label={rule.name}>
          <div className="settings-row">
            <h2 className="foreign settings-text">{rule.name}</h2>
            <span className={rule.enabled ? 'badge badge-good' : 'badge badge-warn'}>
              {t(rule.enabled ? 'hooks.on' : 'hooks.off')}
            </span>
          </div>
          <p className="settings-row">
            <span className="badge number">
              {rule.share === null ? format.number(rule.count ?? 0) : format.percent(rule.share)}
            </span>
            <span className="badge">{t(`rules.per.${rule.per}`)}</span>
            <span className="badge">{t(`rules.every.${rule.every}`)}</span>
            {Object.entries(rule.filter).map(([name, value]) => (
              <span key={name} className="badge foreign">
                {`${name}: ${[value].flat().join(', ')}`}
              </span>
            ))}
          </p>
          <div className="settings-row">
            <button
              type="button"
              className="button button-small"
              disabled={toggle.isPending}
              onClick={() => toggle.mutate(rule)}
            >
              {t(rule.enabled ? 'hooks.disable' : 'hooks.enable')}
            </button>
            <button type="button" className="button button-small button-danger" onClick={() => setDeleted(rule)}>
              {t('hooks.delete')}
            </button>
          </div>
        </article>
      ))}
      {isMaking && (
        <SamplingRuleForm
          onSaved={() => {
            setMaking(false);
            void refresh();
          }}
          onClose={() => setMaking(false)}
        />
      )}
      {deleted !== null && (
        <Confirm
          title={t('rules.deleteTitle')}
          text={t('rules.deleteText')}
          action={t('hooks.delete')}
          onConfirm={() => remove.mutate(deleted)}
          onClose={() => setDeleted(null)}
        />
      )}
    </section>
  );
}
