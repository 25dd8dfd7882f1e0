import type { Settings } from '../../config/resolve-settings.ts'
import type { Flag, FlagValues } from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'

export const sheetFlag = {
  name: 'to-sheet',
  kind: 'text',
  placeholder: 'spreadsheet[#tab]',
  writes: ['elsewhere'],
  destructive: true,
  summary:
    'Replace a tab of a Google spreadsheet, given by URL or id, in one step (see auth google); default tab: the kind of rows',
} as const satisfies Flag

export interface SheetPlace {
  readonly spreadsheet: string
  readonly tab: string | number
}

/** Limit of Google Sheets. */
const maxTabLength = 100

/** Reads `<spreadsheet>[#tab]`, by id or URL; `#gid=…` of a URL names a tab by number. Throws a UsageError. */
export function sheetPlaceOf(text: string, defaultTab: string): SheetPlace {
  const hash = text.indexOf('#')
  const before = (hash < 0 ? text : text.slice(0, hash)).trim()
  const after = hash < 0 ? '' : text.slice(hash + 1).trim()
  const inUrl = /^https:\/\/docs\.google\.com\/spreadsheets\/(?:u\/\d+\/)?d\/([\w-]{10,200})(?:[/?]|$)/.exec(
    before,
  )
  const id = inUrl?.[1] ?? (/^[\w-]{10,200}$/.test(before) ? before : null)
  if (id === null) {
    throw new UsageError(`Invalid --to-sheet: ${JSON.stringify(text)} names no spreadsheet`, {
      hint: 'Use its URL (https://docs.google.com/spreadsheets/d/…) or the id in it, and #name for the tab',
    })
  }
  const gid = inUrl && /^gid=(\d{1,10})$/.exec(after)
  if (gid) return { spreadsheet: id, tab: Number(gid[1]) }
  if (after.length > maxTabLength) {
    throw new UsageError(`Invalid --to-sheet: the name of a tab has at most ${maxTabLength} characters`)
  }
  return { spreadsheet: id, tab: after === '' ? defaultTab : after }
}

export function assertSheetOnly(
  { output, quiet }: Pick<Settings, 'output' | 'quiet'>,
  flags: FlagValues,
  others: readonly Flag[],
): void {
  const setting = [output, quiet].find(({ origin }) => origin.source === 'flag')
  const other = others.find(({ name }) => flags[name] !== undefined)
  const name = setting?.origin.name ?? (other && `--${other.name}`)
  if (name !== undefined) throw new UsageError(`--to-sheet and ${name} cannot be used together`)
}
