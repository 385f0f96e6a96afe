/* Memory that the host cannot read, as a GPU's. */
void *device_memory(unsigned long bytes);
void device_to_host(void *to, const void *from, unsigned long bytes);
void host_to_device(void *to, const void *from, unsigned long bytes);
