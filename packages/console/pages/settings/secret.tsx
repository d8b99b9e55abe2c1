import { useState } from 'react';
import { Icon } from '../../widgets/icon.tsx';
import { failed } from '../../widgets/toasts.tsx';
import { settingsTexts } from './texts.ts';

/** A secret that is shown once. */
export function Secret({ name, text }: { name: string; text: string }) {
  const t = settingsTexts.use();
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="settings-secret">
      <p>{t('secret.once')}</p>
      <div className="settings-row">
        <code aria-label={name} role="textbox" aria-readonly="true" tabIndex={0} className="foreign">
          {text}
        </code>
        <button
          type="button"
          className="button"
          onClick={() => navigator.clipboard.writeText(text).then(() => setCopied(true), failed)}
        >
          <Icon name={isCopied ? 'check' : 'copy'} />
          <span aria-live="polite">{isCopied ? t('secret.copied') : t('secret.copy')}</span>
        </button>
      </div>
    </div>
  );
}
