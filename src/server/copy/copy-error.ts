/** Why an academy cannot be copied as it was asked for. */
export type CopyTrouble =
  | 'not_empty'
  | 'other_copy'
  | 'copied_elsewhere'
  | 'in_use'
  | 'copy_differs'
  | 'text_refused'

/** What stops a copy; nothing of what was copied before is lost. */
export class CopyError extends Error {
  override readonly name = 'CopyError'
  readonly code: CopyTrouble
  readonly hint: string | undefined

  constructor(code: CopyTrouble, message: string, hint?: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}
