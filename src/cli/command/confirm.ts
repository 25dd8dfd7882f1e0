import { CommandError, UsageError } from '../terminal/errors.ts'
import { visible } from '../terminal/visible.ts'
import type { Context } from './context.ts'

/**
 * Asks before `what`, such as `delete course crs_1`, is done to the academy in use, and names that, too. Without a
 * terminal it needs `--yes`. Throws a UsageError, or a CommandError when the answer is no.
 */
export async function confirm({ settings, session, prompts }: Context, what: string): Promise<void> {
  const target = session.target()
  const where = target.kind === 'local' ? target.database : new URL(target.url).host
  await confirmAt({ settings, prompts }, visible(what), `at ${where}`)
}

/** The same for a thing that is not in an academy; `where` says what it is in. */
export async function confirmAt(
  { settings, prompts }: Pick<Context, 'settings' | 'prompts'>,
  what: string,
  where: string,
): Promise<void> {
  if (settings.yes.value || settings.dryRun.value) return
  if (prompts.refusal !== null) {
    throw new UsageError(`to ${what} ${where} needs a yes`, {
      code: 'confirmation_needed',
      why: [prompts.refusal],
      hint: 'add --yes',
    })
  }
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)} ${where}?`
  if (!(await prompts.confirm(sentence))) throw new CommandError('declined', 'failure', 'nothing was done')
}
