import { ProtocolError } from '../../client/errors.ts'

/**
 * Prints the pages of a list as a whole document, also where the platform turns out to have more than it sends: that is
 * thrown when what came has been printed.
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
