import { profileName } from '../../config/profiles.ts'
import { UsageError } from '../terminal/errors.ts'

/** The name as it is, when a profile may bear it; throws a UsageError otherwise. */
export function checkedName(name: string): string {
  if (profileName.test(name)) return name
  throw new UsageError(`a profile cannot be called ${JSON.stringify(name)}`, {
    why: ['a name has letters, digits, - and _, at most 64'],
  })
}
