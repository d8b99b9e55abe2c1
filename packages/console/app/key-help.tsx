import { shellTexts } from '../i18n/texts.ts';
import { Check } from '../widgets/controls.tsx';
import { Dialog, DialogActions } from '../widgets/dialog.tsx';
import { FIND_KEYS, useKeyLists, useLetterKeys } from '../widgets/use-keys.ts';

/** The keys of the page and of every page, and the switch for single characters. */
export default function KeyHelp({ onClose }: { onClose: () => void }) {
  const t = shellTexts.use();
  const lists = useKeyLists();
  const [areOn, turn] = useLetterKeys();
  const everywhere = [
    ['/', t('keys.search')],
    [FIND_KEYS, t('find')],
    ['?', t('keys.help')],
  ] as const;
  return (
    <Dialog title={t('keys')} onClose={onClose}>
      {[...lists.map(({ list }) => list), everywhere].map((list, at) => (
        // The lists do not change while the dialog covers the page.
        // oxlint-disable-next-line react/no-array-index-key
        <dl key={at} className="keys">
          {list.map(([key, text]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      ))}
      <Check checked={areOn} onTick={turn}>
        {t('keys.letters')}
      </Check>
      <DialogActions onClose={onClose} />
    </Dialog>
  );
}
