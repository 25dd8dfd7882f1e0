import type { Settings } from '../../config/resolve-settings.ts'
import type { SettingName } from '../../config/setting.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Command } from './command.ts'
import { notAList, type Refusals } from './refusals.ts'

/**
 * Throws a UsageError for a global flag that the command `name` does not support. Variables and the project file
 * apply to many commands, so unsupported ones are ignored, except dry run: the user must not believe that nothing was
 * changed.
 */
export async function refuseSettings(settings: Settings, command: Command, name: string): Promise<void> {
  const refuses = { ...(await paging(settings, command)), ...command.refuses }
  for (const [setting, reason] of Object.entries(refuses)) {
    // The keys of refusals are setting names.
    const { value, origin } = settings[setting as SettingName]
    const asked = setting === 'dryRun' ? value === true : origin.source === 'flag'
    if (!asked) continue
    throw new UsageError(`${origin.name} is not supported by \`${name}\``, {
      code: 'unsupported_flag',
      why: [reason],
    })
  }
}

/**
 * Returns the refusals of paging flags. Only the operation knows whether it pages; it is loaded only if such a flag
 * is set.
 */
async function paging({ limit, all }: Settings, { calls }: Command): Promise<Refusals> {
  const asked = [limit, all].some(({ origin }) => origin.source === 'flag')
  return asked && calls && !(await calls.operation()).list ? notAList : {}
}
