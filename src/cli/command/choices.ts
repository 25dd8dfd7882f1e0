import { UsageError } from '../terminal/errors.ts'
import type { Flag } from './flag.ts'
import type { FlagValues } from './flag-value.ts'

/** Throws a UsageError for a flag whose value is not one of its choices. */
export function checkChoices(flags: readonly Flag[], values: FlagValues): void {
  for (const { name, choices } of flags) {
    const value = values[name]
    if (!choices || value === undefined) continue
    const wrong = (Array.isArray(value) ? value : [value]).map(String).find((each) => !choices.includes(each))
    if (wrong === undefined) continue
    throw new UsageError(`--${name} must be one of ${choices.join(', ')}, not ${JSON.stringify(wrong)}`, {
      code: 'invalid_choice',
      choice: { given: wrong, valid: choices },
    })
  }
}
