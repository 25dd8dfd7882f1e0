import { profileName } from '../../config/profiles.ts'
import { UsageError } from '../terminal/errors.ts'

/** The name as it is, when a profile may bear it; throws a UsageError otherwise. */
export function checkedName(name: string): string {
  if (profileName.test(name)) return name
  throw new UsageError(`Invalid profile name ${JSON.stringify(name)}`, {
    why: ['Must be 1 to 64 letters, digits, - or _, beginning with a letter or digit'],
  })
}
