import { profileName } from '../../config/profiles.ts'
import { UsageError } from '../terminal/errors.ts'

/** Returns a valid name of a profile unchanged; throws a UsageError on any other. */
export function validProfileName(name: string): string {
  if (profileName.test(name)) return name
  throw new UsageError(`Invalid profile name ${JSON.stringify(name)}`, {
    why: ['Must be 1 to 64 letters, digits, - or _, beginning with a letter or digit'],
  })
}
