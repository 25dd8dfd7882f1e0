/** The message names the path. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code: 'config_invalid' | 'config_unreadable' | 'config_unwritable' | 'config_locked'
  readonly hint: string | undefined

  constructor(code: ConfigError['code'], message: string, options: ErrorOptions & { hint?: string } = {}) {
    super(message, options)
    this.code = code
    this.hint = options.hint
  }
}

/** A usage error. The message names where the value came from. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
  readonly code = 'invalid_setting'
  readonly hint: string | undefined
  /** Set if the valid ones are few. */
  readonly choice: { readonly given: string; readonly valid: readonly string[] } | undefined

  constructor(message: string, options: { hint?: string; choice?: SettingError['choice'] } = {}) {
    super(message)
    this.hint = options.hint
    this.choice = options.choice
  }
}

/** Returns the system's code of a failed file operation, such as `EACCES`. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
