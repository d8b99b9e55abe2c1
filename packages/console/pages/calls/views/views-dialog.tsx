import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useSession } from '../../../session/session.ts';
import { done, failed } from '../../../widgets/actions.tsx';
import { Button } from '../../../widgets/controls.tsx';
import { Dialog, DialogActions } from '../../../widgets/dialog.tsx';
import { Table } from '../../../widgets/list.tsx';
import { usePersonName } from '../../../widgets/people.ts';
import { callsTexts } from '../../texts.ts';
import { useViewChanges, searchOf, type View } from './use-views.ts';

/** Who sees a view, which one opens first, its link, and an end to it. */
export default function ViewsDialog({ views, onClose }: { views: readonly View[]; onClose: () => void }) {
  const t = callsTexts.use();
  const nameOf = usePersonName();
  const { userUuid, role } = useSession();
  const { change, remove } = useViewChanges();
  const mayShare = useMay('process');
  /** What was ticked is shown at once, until it is saved. */
  const [ticked, setTicked] = useState<Parameters<typeof change.mutate>[0] | null>(null);
  const shown = (view: View): View => (ticked?.uuid === view.uuid ? { ...view, ...ticked } : view);
  const mayChange = ({ by }: View) => by === userUuid || role === 'ADMIN';
  const copyLink = async ({ uuid }: View) => {
    try {
      await navigator.clipboard.writeText(new URL(`views/${uuid}`, document.baseURI).href);
      done(t('views.linkCopied'));
    } catch (error) {
      failed(error);
    }
  };
  const box = (view: View, field: 'start_page' | 'shared', label: string, isFixed = false) => (
    <input
      type="checkbox"
      aria-label={label}
      checked={view[field]}
      disabled={isFixed || !mayChange(view) || ticked !== null}
      onChange={({ target }) => {
        const changed = { uuid: view.uuid, [field]: target.checked };
        setTicked(changed);
        change.mutate(changed, { onSettled: () => setTicked(null) });
      }}
    />
  );
  return (
    <Dialog title={t('views.manage')} isWide onClose={onClose}>
      <p className="muted">{t('views.about')}</p>
      <Table
        label={t('views')}
        items={views.map(shown)}
        keyOf={({ uuid }) => uuid}
        columns={({ name, text, plain, actions }) => [
          name(t('viewName'), (view) => (
            <Link to="/calls" search={searchOf(view)} onClick={onClose}>
              {view.name}
            </Link>
          )),
          text(t('views.owner'), ({ by }) => nameOf(by)),
          plain(t('views.startPage'), (view) => box(view, 'start_page', t('views.startPageOf', { name: view.name }))),
          plain(t('views.shared'), (view) => box(view, 'shared', t('views.sharedOf', { name: view.name }), !mayShare)),
          actions(
            t('views.actions'),
            (view) => (
              <>
                <Button icon="copy" isSmall onClick={() => void copyLink(view)}>
                  {t('views.copyLink')}
                </Button>
                {mayChange(view) && (
                  <Button
                    icon="trash"
                    kind="quiet"
                    isSmall
                    label={t('deleteView', { name: view.name })}
                    disabled={remove.isPending}
                    onClick={() => remove.mutate(view.uuid)}
                  />
                )}
              </>
            ),
            { className: 'views-actions' },
          ),
        ]}
      />
      <DialogActions onClose={onClose} />
    </Dialog>
  );
}
