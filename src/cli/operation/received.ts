import { ProtocolError } from '../../client/errors.ts'

/**
 * Prints the pages of a list as a complete document, even if the platform fails to send all of them: that error is
 * thrown after the received pages are printed.
 */
export async function printReceived<Page>(
  pages: AsyncIterable<Page>,
  print: (received: AsyncIterable<Page>) => Promise<void>,
): Promise<void> {
  let incomplete: ProtocolError | null = null
  async function* received(): AsyncGenerator<Page> {
    try {
      yield* pages
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== 'incomplete') throw error
      incomplete = error
    }
  }
  await print(received())
  if (incomplete !== null) throw incomplete
}
