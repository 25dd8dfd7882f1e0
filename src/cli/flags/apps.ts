import { AppInput } from '../../contract/apps.ts'
import { flagsOf } from './flags-of.ts'

/** The flags of an application's fields. */
export const fields = flagsOf(AppInput, { redirectUris: { name: 'redirect-uri', placeholder: 'uri' } })
