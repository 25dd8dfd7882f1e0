import { SettingsInput } from '../../contract/settings.ts'
import { flagsOf } from './derive-flags.ts'

export const fields = flagsOf(SettingsInput)
