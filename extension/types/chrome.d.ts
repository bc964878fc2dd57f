// What is used of the interface that browsers give to extensions.

declare namespace chrome {
  interface Event<Listener> { addListener(listener: Listener): void }
  interface Tab { id?: number; incognito: boolean }
  interface Sender { id?: string; url?: string; origin?: string; frameId?: number; tab?: Tab }
  interface Port {
    name: string;
    sender?: Sender;
    onMessage: Event<(message: any) => void>;
    onDisconnect: Event<() => void>;
    postMessage(message: unknown): void;
    disconnect(): void;
  }
  namespace runtime {
    const id: string | undefined;
    const onConnect: Event<(port: Port) => void>;
    const onMessage: Event<
      (message: any, sender: Sender, respond: (answer: unknown) => void) => boolean>;
    function connect(info: { name: string }): Port;
    function sendMessage(message: unknown): Promise<any>;
    function getURL(path: string): string;
    function openOptionsPage(): Promise<void>;
  }
  namespace tabs {
    function query(info: { active: boolean; currentWindow: boolean }): Promise<Tab[]>;
    function sendMessage(tab: number, message: unknown, place?: { frameId?: number }): Promise<any>;
    function update(tab: number, change: { url: string }): Promise<unknown>;
  }
  const dom: undefined | { openOrClosedShadowRoot(element: HTMLElement): ShadowRoot | null };
}
