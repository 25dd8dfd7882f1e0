import { SettingsInput } from '../../contract/settings.ts'
import { flagsOf } from './derive-flags.ts'

/** The flags of the academy's settings. */
export const fields = flagsOf(SettingsInput)
