import type { Settings } from '../../config/resolve-settings.ts'
import type { SettingName } from '../../config/setting.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Command } from './command.ts'
import { notAList, type Refusals } from './refusals.ts'

/**
 * Throws a UsageError for a global flag of the command line that the command cannot honour; `name` is what it is called.
 * Variables and the project file speak for many commands at once, and are ignored where they do not fit: all but a
 * dry run, which nobody may be led to believe in.
 */
export async function refuseSettings(settings: Settings, command: Command, name: string): Promise<void> {
  const refuses = { ...(await paging(settings, command)), ...command.refuses }
  for (const [setting, reason] of Object.entries(refuses)) {
    // The keys of refusals are names of settings.
    const { value, origin } = settings[setting as SettingName]
    const asked = setting === 'dryRun' ? value === true : origin.source === 'flag'
    if (!asked) continue
    throw new UsageError(`${origin.name} is not supported by \`${name}\``, {
      code: 'unsupported_flag',
      why: [reason],
    })
  }
}

/** Whether a call pages is known to its operation alone, which is loaded where that matters. */
async function paging({ limit, all }: Settings, { calls }: Command): Promise<Refusals> {
  const asked = [limit, all].some(({ origin }) => origin.source === 'flag')
  return asked && calls && !(await calls.operation()).list ? notAList : {}
}
