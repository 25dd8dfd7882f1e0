import type { Context } from './context.ts'

/** Opens a page in the user's browser. Returns false and prints a note if no browser could be opened. */
export async function openPage({ io, output }: Context, url: string): Promise<boolean> {
  try {
    await io.openBrowser(url)
    return true
  } catch (error) {
    await output.note(`Cannot open a browser: ${error instanceof Error ? error.message : error}`)
    return false
  }
}
