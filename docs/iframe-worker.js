// Search in a folder: browsers start no worker for a page that was opened as a file. Its code runs in a hidden frame
// instead, which a <script> element loads. Nothing is fetched; on a server the browser's own workers stay.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = null
      this.onerror = null
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.title = "search"
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = data => {
        const copy = structuredClone(data)
        setTimeout(() => this.tell(new MessageEvent("message", { data: copy })))
      }
      this.ready = new Promise(resolve => {
        const script = inside.document.createElement("script")
        script.src = new URL(url, location.href).href
        script.onload = resolve
        script.onerror = () => this.tell(new Event("error"))
        inside.document.body.append(script)
      })
    }

    tell(event) {
      this["on" + event.type]?.(event)
      this.dispatchEvent(event)
    }

    postMessage(data) {
      const inside = this.frame.contentWindow
      const copy = structuredClone(data)
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data: copy })))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
